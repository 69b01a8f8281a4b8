"""The children of a supervisor: started to die with it, watched, restarted, and taken down in reverse order.

A child that dies again and again is started after ever longer pauses: a trouble that passes, such as a full disk, must
not end the portal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from gridportal import folders, shell
from gridportal.errors import GridPortalError
from gridportal.knobs import BASE_DIR

_MAX_DEATHS = 9  # of one child, within ...; the pauses between them add up to more than two minutes
_DEATHS_SECONDS = 300.0
_LONGEST_PAUSE = 30.0
_LAST = 65536  # bytes of a log in which its last line is looked for


@dataclass
class Child:
    """One process, how it is started and ended, and when it died lately."""

    name: str
    argv: list[str]
    process: subprocess.Popen[bytes] | None = None
    server: bool = False  # others lean on it: it ends after them
    user: str | None = None
    ending: int = signal.SIGTERM
    orphaned: int = signal.SIGKILL
    deaths: list[float] = field(default_factory=list)
    due: float | None = None  # when it is started again, on the monotonic clock
    said_before: int = 0  # bytes in its log before this start

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None


@dataclass
class Family:
    """All children. Each is tied to this process by the kernel, so that even SIGKILL here ends them."""

    logs: Path
    children: list[Child] = field(default_factory=list)
    is_disk_full: bool = False

    def add(self, child: Child) -> Child:
        """Start one more child, its output going to `logs/NAME.log`."""
        self.children.append(child)
        self._launch(child)
        return child

    def adopt(self, name: str, process: subprocess.Popen[bytes]) -> Child:
        """Watch a server that is already running."""
        child = Child(name, [str(word) for word in process.args], process, server=True)  # type: ignore[union-attr]
        self.children.append(child)
        return child

    def python(self, name: str, *words: str, server: bool = False) -> Child:
        """Start a child that is a Python module."""
        return self.add(Child(name, [sys.executable, "-m", *words], server=server))

    def log(self, name: str) -> Path:
        """Where a child's output goes."""
        return self.logs / f"{name}.log"

    def mend(self) -> list[str]:
        """Start again what died and is due; what there is to say about it. Raises when one keeps dying.

        While the disk is full nothing is started and no death counts.
        """
        dead = [child for child in self.children if not child.is_alive]
        news = self._look_at_disk() if dead or self.is_disk_full else []
        if self.is_disk_full:
            return news
        for child in dead:
            now = time.monotonic()
            if child.due is None:
                news.append(self._note_death(child, now))
            if child.due is not None and now >= child.due:
                self._launch(child)
        return news

    def check_start(self, child: Child) -> None:
        """Raise in its own last words, and with its exit code, when `child` ended while it was being started."""
        if child.process is None or child.is_alive:
            return
        error = GridPortalError(self.last_words(child) or f"The {child.name} ended; see {self.log(child.name)}.")
        error.exit_code = 2 if child.process.returncode == 2 else 1
        raise error

    def last_words(self, child: Child) -> str:
        """The last line of what a child has said since it was started."""
        with contextlib.suppress(OSError, IndexError), self.log(child.name).open("rb") as log:
            log.seek(max(child.said_before, log.seek(0, os.SEEK_END) - _LAST))
            return log.read().decode(errors="replace").strip().splitlines()[-1]
        return ""

    def stop(self, seconds: float = 5.0) -> None:
        """Ask every child to end, the newest first, and the servers when the others are gone; kill what stays."""
        newest_first = list(reversed(self.children))
        _end([child for child in newest_first if not child.server], seconds)
        _end([child for child in newest_first if child.server], seconds)

    def _note_death(self, child: Child, now: float) -> str:
        child.deaths = [at for at in child.deaths if now - at < _DEATHS_SECONDS] + [now]
        log, count = self.log(child.name), len(child.deaths)
        if count > _MAX_DEATHS:
            raise GridPortalError(f"The {child.name} ended {count} times; see {log}.")
        pause = 0.0 if count == 1 else min(_LONGEST_PAUSE, 2.0 ** (count - 2))
        child.due = now + pause
        if not pause:
            return f"The {child.name} ended and was started again; its log is {log}."
        return f"The {child.name} ended, time {count} of late, and is started again in {pause:g} s; its log is {log}."

    def _look_at_disk(self) -> list[str]:
        home = self.logs.parent
        was, self.is_disk_full = self.is_disk_full, folders.is_full(home)
        if self.is_disk_full and not was:
            return [f"The disk of {home} is full; what ended is started again once there is room."]
        if was and not self.is_disk_full:
            return [f"There is room again on the disk of {home}."]
        return []

    def _launch(self, child: Child) -> None:
        child.due = None
        self.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.log(child.name).open("ab") as log:
            child.said_before = log.tell()
            child.process = shell.start(
                child.argv,
                stdout=log.fileno(),
                stderr=subprocess.STDOUT,
                cwd="/" if child.user else str(BASE_DIR),
                env={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
                user=child.user,
                orphaned=child.orphaned,
            )


def _end(children: list[Child], seconds: float) -> None:
    for child in children:
        if child.process and child.is_alive:
            child.process.send_signal(child.ending)
    until = time.monotonic() + seconds
    for child in children:
        if child.process is None:
            continue
        try:
            child.process.wait(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait(timeout=5)
