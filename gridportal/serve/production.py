"""`gridportal serve`: PostgreSQL, Redis, web, worker and beat on this machine, watched until somebody ends it."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from django.db import DatabaseError
from rich.console import Console

from gridportal.base import home
from gridportal.base.errors import InputError
from gridportal.base.portal_settings import PortalSettings
from gridportal.serve import packages, production_list, stopping
from gridportal.serve.broker import check as check_broker
from gridportal.serve.portal_set import PortalSet
from gridportal.serve.postgres import Postgres
from gridportal.serve.prepare import prepare
from gridportal.testbed import topologies


@dataclass
class Production:
    """The production set. `run()` returns the exit code."""

    host: str
    port: int
    workers: int
    grid: str
    settings: PortalSettings

    def __post_init__(self) -> None:
        self.set = PortalSet(self.settings, Console(soft_wrap=True, highlight=False))

    def run(self) -> int:
        """Start everything, stay until stopped, take everything down."""
        self._check()
        stopping.listen()
        with home.only_one(self.settings.home) as lock:
            try:
                self._check_port()
                packages.ensure(self.settings)
                self._start()
                home.announce(lock, self._address(), {})
                self._invite()
                self.set.stay()
            except stopping.Stopped:
                self.set.say_stopping(ends_grid=bool(self.grid))
            finally:
                self.set.end()
        return 0

    def _check(self) -> None:
        if not 1024 <= self.port <= 65535:
            raise InputError("port", self.port, "a number from 1024 to 65535")
        if not 1 <= self.workers <= 64:
            raise InputError("workers", self.workers, "a number from 1 to 64")
        if self.grid:
            self.grid = topologies.checked(self.grid, field="grid")
        if not self.settings.database_url and (self.settings.home / "gridportal.sqlite3").exists():
            where = str(self.settings.home)
            raise InputError(
                "GRIDPORTAL_HOME", where, "a folder in which no demo keeps its database, or set DATABASE_URL"
            )

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise InputError("port", self.port, f"one that is free on {self.host} ({error.strerror})") from error

    def _start(self) -> None:
        self._start_servers()
        self.set.say("Preparing tables and static files")
        prepare()
        self.set.start(production_list.portal(self.set, self.host, self.port, self.workers))
        self.set.wait_for_all()

    def _start_servers(self) -> None:
        if self.settings.redis_url:
            check_broker(self.settings.redis_url)
        broker = production_list.broker(self.set)
        database = production_list.database(self.set, self.workers)
        if database:
            self._settle(database)
        addresses = ({"REDIS_URL": broker.url} if broker else {}) | ({"DATABASE_URL": database.url} if database else {})
        os.environ.update(addresses)
        self.set.start(production_list.servers(self.set, broker, database, self.grid))
        home.keep_addresses(self.settings.home, addresses)

    def _settle(self, database: Postgres) -> None:
        """Say where the data are, and end another server of them."""
        if database.directory != self.settings.home / "postgres":
            self.set.say(f"Its user cannot reach {self.settings.home}: the data are in {database.directory}")
        if message := database.make_room():
            self.set.say(message)

    def _invite(self) -> None:
        self.set.say(f"GridPortal is at {self._address()}  (Ctrl-C stops everything)")
        if not self._has_administrator():
            create = ".venv/bin/gridportal person create NAME --role administrator"
            command = f"GRIDPORTAL_HOME={self.settings.home} {create}"
            self.set.say(f"Nobody can administer it yet; in a second terminal:  {command}")
        if not self.settings.secure_cookies:
            self.set.say("Note: before others use it, put it behind a TLS proxy and set GRIDPORTAL_SECURE_COOKIES=1.")

    def _has_administrator(self) -> bool:
        from gridportal.accounts.models import User

        try:
            return User.objects.filter(is_superuser=True, is_active=True).exists()
        except DatabaseError:  # it was killed just now and comes back; then nothing is said
            return True

    def _address(self) -> str:
        return f"http://{self.host}:{self.port}"
