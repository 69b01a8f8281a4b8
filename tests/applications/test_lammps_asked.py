"""LAMMPS, asked by a file while its ranks run at different paces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.applications.conftest import EXAMPLES, need
from tests.gridportal.testbed.conftest import eventually

ROUNDS = 1000
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.slow
def test_of_many_files_none_leaves_some_ranks_waiting_for_others(tmp_path: Path) -> None:
    """On one processor, beside another process, a file comes between the looks of two ranks now and then."""
    need("lmp", "mpirun.openmpi", "taskset")
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    variables = {"cells": "4", "steps": "1000000000", "folder": str(tmp_path)}
    words = [word for name, value in variables.items() for word in ("-var", name, value)]
    lammps = ["lmp", "-in", str(EXAMPLES / "in.melt-restart"), "-log", "none", *words]
    launch = [*one, "mpirun.openmpi", "--oversubscribe", "-n", "3", *lammps]
    log, asked = tmp_path / "log", tmp_path / "checkpoint"
    with (
        log.open("w") as out,
        subprocess.Popen([*one, sys.executable, "-c", "while True: pass"]) as busy,
        subprocess.Popen(
            launch, cwd=tmp_path, stdout=out, env={**os.environ, **AS_ROOT}, start_new_session=True
        ) as run,
    ):
        try:
            for number in range(ROUNDS):
                asked.touch()
                eventually(lambda: not asked.exists(), f"file {number}", least=0.002)
            (tmp_path / "stop").touch()
            assert run.wait(60) == 0
        finally:
            busy.kill()
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert "ended at step" in log.read_text()
