"""The processes of a portal: started to die with their supervisor, watched, restarted, ended in reverse order.

A process that dies again and again is started after ever longer pauses, for ever: whatever is wrong may pass.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gridportal.base import folders, heartbeat
from gridportal.base import processes as shell
from gridportal.base.errors import GridPortalError
from gridportal.base.portal_settings import BASE_DIR
from gridportal.serve import kernel_view
from gridportal.serve.parts import Part, State
from gridportal.serve.restarts import Restarts
from gridportal.serve.watching import Beats, Clock, Watch

_LAST = 65536  # bytes of a log in which its last line is looked for
log = logging.getLogger(__name__)


@dataclass
class Process:
    """One process, how it is started and ended, and when it died."""

    name: str
    argv: list[str]
    announcement: str = ""  # said when it is started the first time
    problem: Callable[[], str | None] = lambda: None  # what keeps it from its work, in a sentence; asked at the start
    ready_seconds: float = 600.0  # in which there must be none, on a machine however busy
    is_server: bool = False  # others lean on it: it ends after them, and must not end at the start
    is_base: bool = False  # nothing after it is started before it is ready, and nothing goes on while it is down
    user: str | None = None
    ending: int = signal.SIGTERM
    end_seconds: float = 10.0  # after which it is killed
    orphaned: int = signal.SIGKILL
    beats: Beats = Beats.NONE
    make_room: Callable[[], str] = lambda: ""  # ends who took its place before it is started again; a sentence of it
    popen: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)
    log_start: int = 0  # bytes in its log before this start
    started: float = 0.0  # on the monotonic clock
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.beats)

    @property
    def pid(self) -> int:
        """Its number; 0 before its first start."""
        return self.popen.pid if self.popen else 0

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.popen is not None and self.popen.poll() is None


@dataclass
class Supervisor:
    """All processes. Each is tied to this one by the kernel, so that even SIGKILL here ends them."""

    logs: Path
    processes: list[Process] = field(default_factory=list)
    is_disk_full: bool = False
    waits_for: Callable[[Process], str] = lambda process: ""  # what it cannot go on without, in a sentence
    board: heartbeat.Board = field(default_factory=heartbeat.Board)
    clock: Clock = field(default_factory=Clock)

    def start(self, process: Process) -> Process:
        """Start one more process, its output going to `logs/NAME.log`. Raises ShellError when it cannot be."""
        self.processes.append(process)
        self._launch(process)
        return process

    def log(self, name: str) -> Path:
        """Where a process's output goes."""
        return self.logs / f"{name}.log"

    def restart_dead(self) -> list[str]:
        """Start again what died and is due; what there is to say about it. Never raises, never gives up.

        While the disk is full nothing is started.
        """
        dead = [process for process in self.processes if not process.is_alive]
        messages = self._look_at_disk() if dead or self.is_disk_full else []
        if self.is_disk_full:
            return messages
        for process in dead:
            messages += self._restart(process)
        return messages

    def end_stuck(self) -> list[str]:
        """End those that could have made progress and made none for long; what there is to say. Never raises.

        Who waits for a server that is down is not stuck. Of gunicorn's workers only the one that is stuck is ended:
        gunicorn starts another.
        """
        elapsed, messages = self.clock.elapsed(time.monotonic()), []
        for process in self.processes:
            if process.is_alive and process.beats is not Beats.NONE:
                process.watch.look(process.pid, self.board, elapsed)
                messages += self._end_stuck(process)
        return messages

    def parts(self) -> list[Part]:
        """How each process is now."""
        now = time.monotonic()
        return [_part(process, now) for process in self.processes]

    def check_start(self, process: Process) -> None:
        """Raise with its last line and its exit code when `process` ended while it was started the first time."""
        if process.popen is None or process.is_alive:
            return
        error = GridPortalError(self.last_line(process) or f"The {process.name} ended; see {self.log(process.name)}.")
        error.exit_code = 2 if process.popen.returncode == 2 else 1
        raise error

    def last_line(self, process: Process) -> str:
        """The last line that a process has written since it was started."""
        with contextlib.suppress(OSError, IndexError), self.log(process.name).open("rb") as file:
            file.seek(max(process.log_start, file.seek(0, os.SEEK_END) - _LAST))
            return file.read().decode(errors="replace").strip().splitlines()[-1]
        return ""

    def stop(self) -> None:
        """Ask every process to end, the newest first, and the servers when the others are gone; kill what stays."""
        newest_first = list(reversed(self.processes))
        _end([process for process in newest_first if not process.is_server])
        _end([process for process in newest_first if process.is_server])

    def _end_stuck(self, process: Process) -> list[str]:
        stuck = process.watch.stuck()
        if not stuck:
            return []
        if reason := self.waits_for(process):
            process.watch.forgive()
            return [f"The {process.name} makes no progress, and waits: {reason}"]
        for pid in stuck:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        which = process.name if stuck == [process.pid] else f"{process.name} (process {stuck[0]})"
        return [f"The {which} made no progress for {process.watch.silent:.0f} s and was ended."]

    def _restart(self, process: Process) -> list[str]:
        """Whose place another took did not die of itself: that is no death, and it is started at once."""
        now = time.monotonic()
        if process.restarts.due is not None and not process.restarts.is_due(now):
            return []
        messages = []
        try:
            if message := process.make_room():
                messages.append(message)
            elif process.restarts.due is None:
                messages.append(self._note_death(process, now))
            if message or process.restarts.is_due(now):
                self._launch(process)
        except (OSError, ValueError, GridPortalError) as error:
            process.restarts.note_start()
            pause = process.restarts.note_death(now)
            messages.append(f"The {process.name} cannot be started, next try in {pause:g} s: {error}")
        return messages

    def _note_death(self, process: Process, now: float) -> str:
        pause, recent = process.restarts.note_death(now), process.restarts.recent
        where = f"its log is {self.log(process.name)}."
        if recent == 1:
            return f"The {process.name} ended and was started again; {where}"
        return f"The {process.name} ended, time {recent} of late, and is started again in {pause:g} s; {where}"

    def _look_at_disk(self) -> list[str]:
        home = self.logs.parent
        was, self.is_disk_full = self.is_disk_full, folders.is_full(home)
        if self.is_disk_full and not was:
            return [f"The disk of {home} is full; what ended is started again once there is room."]
        if was and not self.is_disk_full:
            return [f"There is room again on the disk of {home}."]
        return []

    def _launch(self, process: Process) -> None:
        with self._output(process) as output:
            process.popen = shell.start(
                process.argv,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/" if process.user else str(BASE_DIR),
                env=self._environment(process),
                user=process.user,
                orphaned=process.orphaned,
                keep=[self.board.descriptor] if process.beats is not Beats.NONE else [],
            )
        process.restarts.note_start()
        process.started = time.monotonic()
        process.watch = Watch(process.beats)

    def _environment(self, process: Process) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        if process.beats is Beats.NONE:
            return {"PATH": path}
        return {"PATH": path, heartbeat.VARIABLE: str(self.board.descriptor)}

    @contextlib.contextmanager
    def _output(self, process: Process) -> Iterator[int]:
        """Its log, open for writing; where that cannot be opened nowhere, for a full disk must not keep it down."""
        try:
            self.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = self.log(process.name).open("ab")
        except OSError as error:
            log.warning("The log of the %s cannot be written: %s", process.name, error)
            yield subprocess.DEVNULL
            return
        with file:
            process.log_start = file.tell()
            yield file.fileno()


def _part(process: Process, now: float) -> Part:
    """How a process is, for people."""
    restarts = process.restarts
    due = max(0.0, restarts.due - now) if restarts.due is not None else None
    restarted = now - process.started if restarts.total and process.is_alive else None
    return Part(process.name, _state(process), process.pid, process.watch.silent, restarts.total, restarted, due)


def _state(process: Process) -> State:
    if not process.is_alive:
        return State.DOWN
    if kernel_view.state(process.pid) == "T":
        return State.STOPPED
    return State.SLOW if process.watch.silent else State.UP


def _end(processes: list[Process]) -> None:
    for process in processes:
        if process.popen and process.is_alive:
            process.popen.send_signal(process.ending)
    begun = time.monotonic()
    for process in processes:
        if process.popen is None:
            continue
        try:
            process.popen.wait(timeout=max(0.1, begun + process.end_seconds - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.popen.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # it hangs in the kernel and ends when that lets go
                process.popen.wait(timeout=5)
