"""The process that does the work: the command `gridportal experiment`, which ends with the worker that started it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.experiments import exclusive, selectors
from gridportal.experiments.plan import Plan

_LOG = "experiment.log"


def start(plan: Plan, folder: Path, lock: int) -> subprocess.Popen[bytes]:
    """The command for `plan`, with the lock that it then keeps."""
    argv = [sys.executable, "-m", "gridportal", "experiment", plan.name, "--seed", str(plan.seed), "--out", str(folder)]
    env = {exclusive.VARIABLE: str(lock), "GRIDPORTAL_HOME": str(selectors.base().parent)}
    with (folder / _LOG).open("wb") as log:
        return shell.start(
            [*argv, *_options(plan), "--json"],
            stdout=subprocess.DEVNULL,
            stderr=log.fileno(),
            env=env,
            keep=[lock],
        )


def _options(plan: Plan) -> list[str]:
    only = ["--only", plan.only] if plan.only else []
    return ["--full"] * plan.full + ["--foreign"] * plan.foreign + only


def last_message(folder: Path) -> str:
    """The last line that the process in `folder` wrote, cut at 500 characters; empty for none."""
    try:
        lines = (folder / _LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][:500] if lines else ""
