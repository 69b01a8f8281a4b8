"""What `serve` and `demo` have in common: one supervisor for a list of processes, its messages, and its loop."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.core.exceptions import AppRegistryNotReady, ImproperlyConfigured
from django.db import DatabaseError
from rich.console import Console

from gridportal.base.errors import BackendError, GridPortalError
from gridportal.base.portal_settings import PortalSettings
from gridportal.serve import stopping, under_way
from gridportal.serve.broker import Broker
from gridportal.serve.broker import check as check_broker
from gridportal.serve.parts import Report, State
from gridportal.serve.postgres import Postgres
from gridportal.serve.supervisor import Process, Supervisor
from gridportal.serve.watching import Beats

_LOOK_EVERY = 0.5  # seconds between two looks at the processes
_REPORT_EVERY = 5.0
_ASK_SECONDS = 2.0
log = logging.getLogger(__name__)
ServerT = TypeVar("ServerT", Broker, Postgres)


class PortalSet:
    """The processes of one portal, those who supervise them, and what is said about them.

    Starting may raise, with a sentence. Once all runs nothing that a process, a server or the disk does ends the loop.
    """

    def __init__(self, settings: PortalSettings, console: Console) -> None:
        self.settings = settings
        self.console = console
        self.begun = time.monotonic()
        self.supervisor = Supervisor(settings.home / "log")
        self.at_end = contextlib.ExitStack()  # what is done when all processes have ended
        self.report = Report(settings.home)
        self.supervisor.waits_for = self._waits_for
        self._reported: list[tuple[State, int]] = []
        self._reported_at = 0.0
        self._report_problem = ""

    def say(self, message: str) -> None:
        """Print with the seconds since the start. Whoever reads may be gone, or the disk of a log file full."""
        with contextlib.suppress(OSError, ValueError):
            self.console.print(f"[{time.monotonic() - self.begun:5.1f} s] {message}", markup=False)

    def keep(self, server: ServerT) -> ServerT:
        """Close `server` when all processes have ended."""
        self.at_end.callback(server.close)
        return server

    def start(self, processes: Iterable[Process]) -> None:
        """Start them in their order, each when those that it needs are ready."""
        for process in processes:
            if process.announcement:
                self.say(process.announcement)
            self.supervisor.start(process)
            if process.is_base:
                self.wait(process)

    def wait(self, process: Process) -> None:
        """Until `process` does its work. Raises GridPortalError when it does not, or is a server and ended."""
        until = time.monotonic() + process.ready_seconds
        while True:
            if process.is_server:
                self.supervisor.check_start(process)
            else:
                self.look()
            problem = process.problem()
            if not problem:
                return
            if time.monotonic() > until:
                raise GridPortalError(f"{problem} See {self.supervisor.log(process.name)}.")
            time.sleep(0.1)

    def wait_for_all(self) -> None:
        """Until everything that was started does its work."""
        for process in self.supervisor.processes:
            self.wait(process)

    def look(self) -> None:
        """One look at the processes: restart what died, end what is stuck, tell what happened."""
        for message in (*self.supervisor.restart_dead(), *self.supervisor.end_stuck()):
            self.say(message)
        self._report()

    def stay(self, afterwards: Callable[[], None] = lambda: None) -> None:
        """Look until somebody ends the supervisor, and do `afterwards` each time.

        A mistake of ours in a look is logged, and does not end the portal.
        """
        while True:
            time.sleep(_LOOK_EVERY)
            try:
                self.look()
                afterwards()
            except Exception:
                log.exception("A look at the processes failed.")

    def _report(self) -> None:
        """Leave for pages and probes how each process is: at once when one changed, and every few seconds."""
        parts, now = self.supervisor.parts(), time.monotonic()
        states = [(part.state, part.restarts) for part in parts]
        if states == self._reported and now - self._reported_at < _REPORT_EVERY:
            return
        self._reported, self._reported_at = states, now
        try:
            self.report.write(parts)
            self._report_problem = ""
        except OSError as error:
            if str(error) != self._report_problem:  # once, however long the disk stays so
                log.warning("How the processes are cannot be written: %s", error)
            self._report_problem = str(error)

    def _waits_for(self, process: Process) -> str:
        """Which server is not there, without which worker and beat cannot go on."""
        if process.beats is not Beats.ITSELF:
            return ""
        bases = [process.name for process in self.supervisor.processes if process.is_base]
        for part in self.supervisor.parts():
            if part.is_down and part.name in bases:
                return part.sentence
        try:
            if url := os.environ.get("REDIS_URL"):
                check_broker(url, _ASK_SECONDS)
        except BackendError as error:
            return str(error)
        return ""

    def say_stopping(self, *, ends_grid: bool) -> None:
        """What becomes of the jobs under way. `ends_grid`: the emulated Grid is this set's, and ends with it."""
        try:
            message = under_way.sentence(ends_grid=ends_grid)
        except (DatabaseError, AppRegistryNotReady, ImproperlyConfigured):
            message = "Jobs under way are followed again at the next start."  # how many nobody can tell now
        self.say(f"Stopping. {message}".rstrip())

    def end(self) -> None:
        """Take everything down."""
        stopping.deafen()
        self.supervisor.stop()
        for process in self.supervisor.processes:
            self._end_others(process)
        self.at_end.close()

    def _end_others(self, process: Process) -> None:
        """Ours has ended; one that somebody started in its place is no child that ends with us."""
        try:
            message = process.make_room()
        except (OSError, GridPortalError) as error:
            message = str(error)
        if message:
            self.say(message)
