"""The children of the supervisor: started to die with it, watched, restarted, and taken down in reverse order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from gridportal import shell
from gridportal.errors import GridPortalError
from gridportal.knobs import BASE_DIR

_MAX_RESTARTS = 5


@dataclass
class Child:
    """One process with its log file and how often it had to be started again."""

    name: str
    argv: list[str]
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0


@dataclass
class Family:
    """All children. Each is tied to this process by the kernel, so that even SIGKILL here ends them."""

    logs: Path
    children: list[Child] = field(default_factory=list)

    def start(self, name: str, argv: list[str]) -> Child:
        """Start one more child, its output going to `logs/NAME.log`."""
        child = Child(name, argv)
        self.children.append(child)
        self._launch(child)
        return child

    def adopt(self, name: str, process: subprocess.Popen[bytes]) -> Child:
        """Watch a child that is already running."""
        child = Child(name, [str(word) for word in process.args], process)  # type: ignore[union-attr]
        self.children.append(child)
        return child

    def python(self, name: str, *words: str) -> Child:
        """Start a child that is a Python module."""
        return self.start(name, [sys.executable, "-m", *words])

    def log(self, name: str) -> Path:
        """Where a child's output goes."""
        return self.logs / f"{name}.log"

    def mend(self) -> list[str]:
        """Start again what died; the names of those children. Raises when one keeps dying."""
        dead = [child for child in self.children if child.process is None or child.process.poll() is not None]
        for child in dead:
            child.restarts += 1
            if child.restarts > _MAX_RESTARTS:
                raise GridPortalError(f"The {child.name} ended {child.restarts} times; see {self.log(child.name)}.")
            self._launch(child)
        return [child.name for child in dead]

    def stop(self, seconds: float = 5.0) -> None:
        """Ask every child to end, the newest first; kill those that outlive `seconds`."""
        for child in reversed(self.children):
            if child.process and child.process.poll() is None:
                child.process.terminate()
        until = time.monotonic() + seconds
        for child in reversed(self.children):
            if child.process is None:
                continue
            try:
                child.process.wait(timeout=max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait(timeout=5)

    def _launch(self, child: Child) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with self.log(child.name).open("ab") as log:
            child.process = shell.start(
                child.argv,
                stdout=log.fileno(),
                stderr=subprocess.STDOUT,
                cwd=str(BASE_DIR),
                env={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
            )
