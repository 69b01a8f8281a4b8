"""A case is run by a process of its own, with a portal that has its own home, database and Grid."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from gridportal.base import bounded_json
from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.experiments.moves.move_case import ENVIRONMENT, MoveCase

CLUSTER = "grid"
_MODULE = "gridportal.experiments.moves.own_portal"
_DATABASE, _RATES = "gridportal.sqlite3", "kernel-rates.json"
_START = 120.0


def run(case: MoveCase, folder: Path, grid: Path, before: Path | None = None) -> dict[str, Any]:
    """What came of it. `folder`: the home of its portal, made anew; `before`: the home whose database it begins with.

    Raises BackendError where the portal cannot run it.
    """
    _prepare(folder, before)
    order, answer = folder / "case.json", folder / "answer.json"
    order.write_text(json.dumps(case.document()), encoding="utf-8")
    argv = [sys.executable, "-m", _MODULE, str(order), str(answer)]
    patience, environment = case.patience + _START, _environment(folder, grid)
    # an experiment that is killed and resumed would have two portals on one Grid
    done = shell.run(argv, timeout=patience, check=False, env=environment, orphaned=signal.SIGKILL)
    (folder / "portal.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0 or not answer.exists():
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise BackendError(f"The experiment's portal ended with {done.returncode}: {lines[-1] if lines else ''}")
    document: dict[str, Any] = bounded_json.load(answer, answer.name)
    return document


def _prepare(folder: Path, before: Path | None) -> None:
    """A home with nothing but the database and the benchmarks of `before`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (_DATABASE, _RATES) if before else ():
        shutil.copy2(Path(str(before)) / name, folder / name)


def _environment(folder: Path, grid: Path) -> dict[str, str]:
    cluster = {"name": CLUSTER, "backend": "grid", "state_dir": str(grid), "environment": ENVIRONMENT}
    return {
        **ENVIRONMENT,
        "GRIDPORTAL_HOME": str(folder),
        "GRIDPORTAL_GRID_DIR": str(grid),
        "GRIDPORTAL_CLUSTERS": json.dumps([{**cluster, "share_nodes": True}]),
        "GRIDPORTAL_LOG_LEVEL": "INFO",
        "DJANGO_SETTINGS_MODULE": "gridportal.settings",
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }
