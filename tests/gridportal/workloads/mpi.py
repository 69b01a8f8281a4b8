"""Starts a program on real MPI ranks, and ends whatever it started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MPIEXEC = Path(sys.executable).parent / "mpiexec"
CHECKOUT = Path(__file__).parents[3]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def start(
    ranks: int, module: str, *arguments: str, run_dir: Path | None = None, stoppable: bool = True
) -> subprocess.Popen[str]:
    """`python -m module arguments` on `ranks` local ranks; with a run directory also with a place for checkpoints."""
    environment = {**os.environ, **ONE_THREAD}
    for variable in ("GRIDPORTAL_RUN_DIR", "GRIDPORTAL_CHECKPOINTS"):
        environment.pop(variable, None)
    if run_dir is not None:
        environment["GRIDPORTAL_RUN_DIR"] = str(run_dir)
        environment |= {"GRIDPORTAL_CHECKPOINTS": str(run_dir / "checkpoints")} if stoppable else {}
    return subprocess.Popen(
        [str(MPIEXEC), "-n", str(ranks), sys.executable, "-m", module, *arguments],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    ranks: int, module: str, *arguments: str, run_dir: Path | None = None, stoppable: bool = True
) -> subprocess.CompletedProcess[str]:
    """As `start`, to its end; a program that hangs is ended after four minutes and fails the test."""
    process = start(ranks, module, *arguments, run_dir=run_dir, stoppable=stoppable)
    try:
        output, errors = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpiexec passes it on to its ranks
        process.communicate(timeout=10)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def events(run_dir: Path) -> list[dict]:
    """What the program told in its run directory."""
    return [json.loads(line) for line in (run_dir / "progress.jsonl").read_text().splitlines()]


def phases(run_dir: Path) -> list[dict]:
    """What it told of its phases; between them stand its checkpoints."""
    return [event for event in events(run_dir) if event["event"] == "phase"]
