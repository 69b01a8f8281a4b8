"""The portal under test: started as an administrator starts it, watched, started again, and asked for its rows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.testbed.client import Grid
from tests.chaos import clock, world

PORT = 8000
_SETTINGS = {
    "GRIDPORTAL_HOME": str(world.HOME),
    "GRIDPORTAL_LEASE_SECONDS": "4",
    "GRIDPORTAL_MEASURE_EVERY": "120",
    "GRIDPORTAL_MEASURE_MAX_AGE": "120",
    "GRIDPORTAL_SKELETON_SHARE": "0.5",
    "GRIDPORTAL_TRIAL_SHARE": "100",
    "GRIDPORTAL_TRIAL_SECONDS": "15",
}
_OTHERS = ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "GRIDPORTAL_CLUSTERS", "GRIDPORTAL_GRID_DIR")


class Portal:
    """One supervisor of `kind` (production or embedded) in world.HOME, and the Slurm beside it."""

    def __init__(self, kind: str, folder: Path, topology: Path, *, slurm: bool) -> None:
        self.kind, self.folder, self.topology, self.has_slurm = kind, folder, topology, slurm
        self.process: subprocess.Popen[bytes] | None = None
        self.slurm: subprocess.Popen[bytes] | None = None
        self.ended_by_itself: list[str] = []
        self._expected = threading.Event()  # that it is not there: it was killed, or is over
        self._expected.set()
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Whether the supervisor lives."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the supervisor, its words going to supervisor.log."""
        with self._lock, (self.folder / "supervisor.log").open("ab") as log:
            env = {**self.environment(), **clock.environment()}
            self.process = subprocess.Popen(self._argv(), env=env, stdout=log, stderr=log, cwd=world.CHECKOUT)
            self._expected.clear()

    def kill(self) -> str:
        """SIGKILL for the supervisor; its parts go with it by the kernel's hand."""
        with self._lock:
            self._expected.set()
            if self.process is None:
                return "nobody was there"
            self.process.kill()
            self.process.wait(timeout=30)
            return f"supervisor {self.process.pid}"

    def watch(self) -> None:
        """Start it again when it ended by itself, which it must not; to be called every second or so."""
        if self.is_running or self._expected.is_set() or self.process is None:
            return
        words = self.last_words()
        self.ended_by_itself.append(f"exit code {self.process.returncode}: {words}")
        time.sleep(2)
        self.start()

    def last_words(self) -> str:
        """The last line that the supervisor said."""
        text = (self.folder / "supervisor.log").read_text(encoding="utf-8", errors="replace").strip()
        return text.splitlines()[-1] if text else "it said nothing"

    def end(self, seconds: float = 90.0) -> bool:
        """Ask the supervisor to end; whether it did so by itself within the time."""
        self._expected.set()
        if self.process is None:
            return True
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=30)
            return False
        return True

    def start_slurm(self, topology: Path) -> None:
        """A real Slurm on a Grid of its own, which outlives the portal."""
        words = ["testbed", "up", str(topology), "--slurm", "--foreground", "--state-dir", str(world.SLURM)]
        with (self.folder / "slurm.log").open("ab") as log:
            argv = [sys.executable, "-m", "gridportal", *words]
            self.slurm = subprocess.Popen(argv, stdout=log, stderr=log, cwd=world.CHECKOUT, env=self.environment())
        self._wait_for_slurm()

    def end_slurm(self) -> None:
        """Take it down."""
        if self.slurm is not None and self.slurm.poll() is None:
            self.slurm.send_signal(signal.SIGTERM)
            self.slurm.wait(timeout=60)

    def wait(self, seconds: float = 900.0) -> None:
        """Until the supervisor says where the portal is."""
        until = time.monotonic() + seconds
        while "GridPortal is at" not in (self.folder / "supervisor.log").read_text(encoding="utf-8", errors="replace"):
            if not self.is_running or time.monotonic() > until:
                raise BackendError(f"The portal did not come up: {self.last_words()}")
            time.sleep(0.2)

    def ask(self, module: str, *words: str, timeout: float = 120.0) -> Any:
        """What one of the modules of this package prints as JSON, run as a command of this portal's home."""
        argv = [sys.executable, "-m", f"tests.chaos.{module}", *words]
        done = shell.run(argv, timeout=timeout, env=self.environment(), bare=True, cwd=str(world.CHECKOUT))
        return json.loads(done.stdout)

    def environment(self) -> dict[str, str]:
        """What the portal and its commands see of the world."""
        kept = {name: value for name, value in os.environ.items() if name not in _OTHERS}
        return {**kept, **_SETTINGS, "GRIDPORTAL_CLUSTERS": json.dumps(self._clusters())}

    def _clusters(self) -> list[dict[str, Any]]:
        grid: list[dict[str, Any]] = [{"name": "grid", "backend": "grid", "state_dir": str(world.HOME / "grid")}]
        if self.has_slurm:
            slurm = {"name": "hpc", "backend": "slurm", "state_dir": str(world.SLURM), "probe": "grid", "timeout": 10}
            grid.append(slurm)
        return grid

    def _argv(self) -> list[str]:
        base = [sys.executable, "-m", "gridportal"]
        if self.kind == "production":
            return [*base, "serve", "--port", str(PORT), "--workers", "2", "--grid", str(self.topology)]
        return [*base, "demo", "--port", str(PORT), "--class", "S", "--streams", "0", "--topology", str(self.topology)]

    def _wait_for_slurm(self, seconds: float = 120.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                info = Grid(world.SLURM).slurm_info()
            except BackendError:
                info = None
            if info and info["state"] == "up":
                return
            time.sleep(0.3)
        raise BackendError(f"Slurm did not come up within {seconds:g} s; see {self.folder / 'slurm.log'}.")
