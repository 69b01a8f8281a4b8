"""What `serve` and `demo` have in common: one supervisor, its messages, and the loop that restarts what died."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable

from django.core.exceptions import AppRegistryNotReady, ImproperlyConfigured
from django.db import DatabaseError
from rich.console import Console

from gridportal.base.errors import BackendError, GridPortalError
from gridportal.base.portal_settings import Knobs
from gridportal.serve import programs, stopping, under_way
from gridportal.serve.broker import Broker
from gridportal.serve.broker import check as check_broker
from gridportal.serve.parts import Report, State
from gridportal.serve.postgres import Postgres
from gridportal.serve.supervisor import Process, Supervisor
from gridportal.serve.watching import Beats

_LOOK_EVERY = 0.5  # seconds between two looks at the processes
_REPORT_EVERY = 5.0
_ASK_SECONDS = 2.0
_GRID_SECONDS = 60.0
_SERVERS = ("broker", "database")  # without which worker and beat stand still
log = logging.getLogger(__name__)


class PortalSet:
    """The processes of one portal, those who supervise them, and what is said about them.

    Starting may raise, with a sentence. Once all runs nothing that a process, a server or the disk does ends the loop.
    """

    def __init__(self, knobs: Knobs, console: Console) -> None:
        self.knobs = knobs
        self.console = console
        self.begun = time.monotonic()
        self.supervisor = Supervisor(knobs.home / "log")
        self.broker: Broker | None = None
        self.database: Postgres | None = None
        self.report = Report(knobs.home)
        self.supervisor.waits_for = self._waits_for
        self._reported: list[tuple[State, int]] = []
        self._reported_at = 0.0
        self._report_problem = ""

    def say(self, message: str) -> None:
        """Print with the seconds since the start. Whoever reads may be gone, or the disk of a log file full."""
        with contextlib.suppress(OSError, ValueError):
            self.console.print(f"[{time.monotonic() - self.begun:5.1f} s] {message}", markup=False)

    def start_broker(self, broker: Broker, binary: str) -> None:
        """Start a private broker, wait for it, and let all that is started later use it."""
        self.broker = broker
        process = self.supervisor.start(broker.process(binary))
        broker.wait(lambda: process.is_alive)
        os.environ["REDIS_URL"] = broker.url

    def start_portal(self, bind: str, workers: int) -> None:
        """Start web, worker and beat."""
        self.say("Starting web, worker and beat")
        log = str(self.supervisor.log("access"))
        start = self.supervisor.start_python
        start("web", *programs.web(bind, workers=workers, access_log=log, is_supervised=True), beats=Beats.CHILDREN)
        start("worker", *programs.worker(), beats=Beats.ITSELF)
        start("beat", *programs.beat(), beats=Beats.ITSELF)

    def start_grid(self, topology: str) -> Process:
        """Start the daemon of an emulated Grid."""
        self.say(f"Building the emulated Grid {topology}")
        state_dir = str(self.knobs.grid_state_dir)
        argv = ["gridportal", "testbed", "up", topology, "--foreground", "--state-dir", state_dir]
        return self.supervisor.start_python("grid", *argv, is_server=True)

    def wait_for_grid(self, process: Process) -> None:
        """Until the Grid answers. Raises GridPortalError when it ended or stays silent."""
        from gridportal.testbed.client import Grid

        grid, until = Grid(self.knobs.grid_state_dir), time.monotonic() + _GRID_SECONDS
        while True:
            self.supervisor.check_start(process)
            try:
                warning = grid.status().get("warning")
            except BackendError as error:
                if time.monotonic() > until:
                    where = self.supervisor.log(process.name)
                    raise BackendError(f"The emulated Grid did not come up; see {where}.") from error
                time.sleep(0.1)
            else:
                if warning:
                    self.say(f"Note: {warning}")
                return

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
        for part in self.supervisor.parts():
            if part.is_down and part.name in _SERVERS:
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

    def _leave_no_database(self) -> None:
        """Ours has ended; one that somebody started in its place is no child that ends with us."""
        try:
            message = self.database.make_room() if self.database else ""
        except (OSError, GridPortalError) as error:
            message = str(error)
        if message:
            self.say(message)

    def end(self) -> None:
        """Take everything down."""
        stopping.deafen()
        self.supervisor.stop(seconds=10.0)
        self._leave_no_database()
        for server in (self.broker, self.database):
            if server:
                server.close()
