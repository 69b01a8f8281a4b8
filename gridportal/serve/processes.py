"""The children of a supervisor: started to die with it, watched, restarted, and taken down in reverse order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from gridportal import shell
from gridportal.errors import GridPortalError
from gridportal.knobs import BASE_DIR

_MAX_DEATHS = 5  # of one child, within ...
_DEATHS_SECONDS = 300.0


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

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None


@dataclass
class Family:
    """All children. Each is tied to this process by the kernel, so that even SIGKILL here ends them."""

    logs: Path
    children: list[Child] = field(default_factory=list)

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
        """Start again what died; the names of those children. Raises when one keeps dying."""
        dead = [child for child in self.children if not child.is_alive]
        for child in dead:
            now = time.monotonic()
            child.deaths = [at for at in child.deaths if now - at < _DEATHS_SECONDS] + [now]
            if len(child.deaths) > _MAX_DEATHS:
                raise GridPortalError(f"The {child.name} ended {len(child.deaths)} times; see {self.log(child.name)}.")
            self._launch(child)
        return [child.name for child in dead]

    def stop(self, seconds: float = 5.0) -> None:
        """Ask every child to end, the newest first, and the servers when the others are gone; kill what stays."""
        newest_first = list(reversed(self.children))
        _end([child for child in newest_first if not child.server], seconds)
        _end([child for child in newest_first if child.server], seconds)

    def _launch(self, child: Child) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with self.log(child.name).open("ab") as log:
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
