"""The processes that a portal is made of besides its servers: the web server, worker and beat, an emulated Grid."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gridportal.base.errors import BackendError
from gridportal.serve import health, programs
from gridportal.serve.supervisor import Process
from gridportal.serve.watching import Beats

_ASK_SECONDS = 1.0
_GRID_SECONDS = 60.0


def web(host: str, port: int, workers: int, access_log: Path) -> Process:
    """The web server, on `host:port`."""
    argv = programs.web(f"{host}:{port}", workers=workers, access_log=str(access_log), is_supervised=True)
    problem = partial(health.ill, "web", host=host, port=port, timeout=_ASK_SECONDS)
    return Process("web", _python(argv), "Starting web, worker and beat", problem, beats=Beats.CHILDREN)


def worker() -> Process:
    """Celery's worker."""
    problem = partial(health.ill, "worker", timeout=_ASK_SECONDS)
    return Process("worker", _python(programs.worker()), problem=problem, beats=Beats.ITSELF)


def beat() -> Process:
    """Celery's beat."""
    problem = partial(health.ill, "beat", timeout=_ASK_SECONDS)
    return Process("beat", _python(programs.beat()), problem=problem, beats=Beats.ITSELF)


def grid(topology: str, state_dir: Path, note: Callable[[str], None]) -> Process:
    """The daemon of an emulated Grid; `note` takes what it warns of once it is up."""
    argv = ["gridportal", "testbed", "up", topology, "--foreground", "--state-dir", str(state_dir)]
    announcement = f"Building the emulated Grid {topology}"
    problem = partial(_grid_problem, state_dir, note)
    return Process("grid", _python(argv), announcement, problem, ready_seconds=_GRID_SECONDS, is_server=True)


def _grid_problem(state_dir: Path, note: Callable[[str], None]) -> str | None:
    from gridportal.testbed.client import Grid

    try:
        warning = Grid(state_dir).status().get("warning")
    except BackendError:
        return "The emulated Grid did not come up."
    if warning:
        note(f"Note: {warning}")
    return None


def _python(argv: list[str]) -> list[str]:
    return [sys.executable, "-m", *argv]
