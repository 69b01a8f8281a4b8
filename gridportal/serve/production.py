"""`gridportal serve`: PostgreSQL, Redis, web, worker and beat on this machine, watched until somebody ends it."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

from rich.console import Console

from gridportal.errors import BackendError, GridPortalError, InputError
from gridportal.knobs import Knobs
from gridportal.serve import health, home, packages, programs, stopping
from gridportal.serve.broker import Broker, debian_binary
from gridportal.serve.broker import check as check_broker
from gridportal.serve.postgres import Postgres
from gridportal.serve.prepare import prepare
from gridportal.serve.processes import Child, Family
from gridportal.testbed import topologies

_CHECK_EVERY = 10.0  # seconds between two health checks of everything
_PATIENCE = 3  # failed checks in a row before a part is started again


@dataclass
class Production:
    """The supervisor. `run()` returns the exit code."""

    host: str
    port: int
    workers: int
    grid: str
    knobs: Knobs

    def __post_init__(self) -> None:
        self.console = Console(soft_wrap=True, highlight=False)
        self.family = Family(self.knobs.home / "log")
        self.database: Postgres | None = None
        self.broker: Broker | None = None
        self.begun = time.monotonic()
        self.failures: dict[str, int] = {}

    def run(self) -> int:
        """Start everything, stay until stopped, take everything down."""
        self._check()
        stopping.listen()
        with home.only_one(self.knobs.home) as lock:
            try:
                self._check_port()
                packages.ensure(self.knobs)
                self._start()
                home.announce(lock, self._address(), {})
                self._invite()
                self._stay()
            except stopping.Stopped:
                self._say("Stopping.")
            finally:
                self._end()
        return 0

    def _check(self) -> None:
        if not 1024 <= self.port <= 65535:
            raise InputError("port", self.port, "a number from 1024 to 65535")
        if not 1 <= self.workers <= 64:
            raise InputError("workers", self.workers, "a number from 1 to 64")
        if self.grid:
            self.grid = topologies.checked(self.grid, field="grid")
        if not self.knobs.database_url and (self.knobs.home / "gridportal.sqlite3").exists():
            where = str(self.knobs.home)
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
        addresses = {}
        if self.knobs.redis_url:
            check_broker(self.knobs.redis_url)
        else:
            self._say("Starting Redis")
            addresses["REDIS_URL"] = self._start_broker()
        if not self.knobs.database_url:
            self._say("Starting PostgreSQL")
            addresses["DATABASE_URL"] = self._start_database()
        os.environ.update(addresses)
        home.keep_addresses(self.knobs.home, addresses)
        if self.grid:
            self._say(f"Building the emulated Grid {self.grid}")
            where = str(self.knobs.grid_state_dir)
            words = ["gridportal", "testbed", "up", self.grid, "--foreground", "--state-dir", where]
            self.family.python("grid", *words, server=True)
        self._say("Preparing tables and static files")
        prepare()
        self._say("Starting web, worker and beat")
        log = str(self.family.log("access"))
        self.family.python("web", *programs.web(f"{self.host}:{self.port}", workers=self.workers, access_log=log))
        self.family.python("worker", *programs.worker())
        self.family.python("beat", *programs.beat())
        if self.grid:
            self._wait_for_grid()
        self._wait()

    def _start_broker(self) -> str:
        binary = debian_binary()
        if binary is None:
            raise BackendError("Redis is not installed; install it with: apt-get install redis-server")
        self.broker = Broker(self.knobs.home / "redis")
        self.family.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.family.log("broker").open("ab") as log:
            self.family.adopt("broker", self.broker.start(binary, log.fileno()))
        return self.broker.url

    def _start_database(self) -> str:
        each_thread_and_spare = self.workers * programs.WEB_THREADS + 50
        self.database = Postgres(self.knobs.home / "postgres", each_thread_and_spare)
        if self.database.directory != self.knobs.home / "postgres":
            self._say(f"Its user cannot reach {self.knobs.home}: the data are in {self.database.directory}")
        self.database.wait(self.family.add(self.database.child()))
        return self.database.url

    def _wait_for_grid(self) -> None:
        from gridportal.testbed.client import Grid

        grid, until = Grid(self.knobs.grid_state_dir), time.monotonic() + 60
        child = next(child for child in self.family.children if child.name == "grid")
        while True:
            self.family.check_start(child)
            try:
                warning = grid.status().get("warning")
            except BackendError as error:
                if time.monotonic() > until:
                    raise BackendError(f"The Grid did not come up; see {self.family.log('grid')}.") from error
                time.sleep(0.1)
            else:
                if warning:
                    self._say(f"Note: {warning}")
                return

    def _wait(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        for part in health.PARTS:
            while problem := self._ill(part, timeout=1.0):
                if time.monotonic() > until:
                    raise GridPortalError(f"{problem} See {self.family.log(part)}.")
                self._mend()
                time.sleep(0.1)

    def _ill(self, part: str, timeout: float = 5.0) -> str | None:
        return health.ill(part, host=self.host, port=self.port, timeout=timeout)

    def _stay(self) -> None:
        checked = time.monotonic()
        while True:
            time.sleep(0.5)
            self._mend()
            if time.monotonic() - checked >= _CHECK_EVERY:
                self._check_health()
                checked = time.monotonic()

    def _mend(self) -> None:
        for words in self.family.mend():
            self._say(words)

    def _check_health(self) -> None:
        for child in [child for child in self.family.children if child.name in health.PARTS]:
            problem = self._ill(child.name)
            self.failures[child.name] = self.failures.get(child.name, 0) + 1 if problem else 0
            if problem:
                self._say(problem)
            if self.failures[child.name] >= _PATIENCE:
                self._restart(child)

    def _restart(self, child: Child) -> None:
        self._say(f"The {child.name} is ended because it failed {_PATIENCE} checks in a row.")
        self.failures[child.name] = 0
        if child.process:
            child.process.kill()
            child.process.wait(timeout=5)

    def _invite(self) -> None:
        from gridportal.accounts.models import User

        self._say(f"GridPortal is at {self._address()}  (Ctrl-C stops everything)")
        if not User.objects.filter(is_superuser=True, is_active=True).exists():
            command = f"GRIDPORTAL_HOME={self.knobs.home} .venv/bin/gridportal person create NAME --role administrator"
            self._say(f"Nobody can administer it yet; in a second terminal:  {command}")
        if not self.knobs.secure_cookies:
            self._say("Note: before others use it, put it behind a TLS proxy and set GRIDPORTAL_SECURE_COOKIES=1.")

    def _end(self) -> None:
        stopping.deafen()
        self.family.stop(seconds=10.0)
        for server in (self.broker, self.database):
            if server:
                server.close()

    def _address(self) -> str:
        return f"http://{self.host}:{self.port}"

    def _say(self, words: str) -> None:
        self.console.print(f"[{time.monotonic() - self.begun:5.1f} s] {words}", markup=False)
