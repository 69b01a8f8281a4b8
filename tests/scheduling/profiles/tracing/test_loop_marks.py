"""Marks of the outermost loop, written while a program runs that nobody instrumented, and read as its progress."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gridportal.base import run_files
from scheduling.contracts.core.loop_rounds import Mark, RoundsPosition, marks_of, reports
from scheduling.runs.adapters import recorder
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH, need

#: Forty rounds of three reductions and an exchange, then short rounds of another loop, which are something else.
PROGRAM = """
import time
import numpy as np
from mpi4py import MPI

world, values, sums = MPI.COMM_WORLD, np.zeros(9), np.zeros(9)
world.Bcast(values)
for step in range(40):
    for part in range(3):
        world.Allreduce(values, sums)
        time.sleep(0.01)
    world.Sendrecv(values, 1 - world.rank, recvbuf=sums, source=1 - world.rank)
for step in range(2500):
    world.Reduce(values, sums)
    time.sleep(0.0005)
"""


def marks(cache: Path, folder: Path, *, marks_only: bool) -> list[Mark]:
    library = recorder.built(need(MPICH, "gcc"), cache)
    prefix = recorder.prefix(library, folder, marks_only=marks_only)
    words = [*LAUNCHERS[MPICH], "-n", "2", *prefix, sys.executable, "-c", PROGRAM]
    subprocess.run(words, check=True, timeout=120, capture_output=True)
    return list(marks_of((folder / run_files.TRACE_MARKS).read_bytes()))


def test_the_outermost_loop_is_counted_while_the_program_runs(cache: Path, tmp_path: Path) -> None:
    found = marks(cache, tmp_path / "trace", marks_only=True)
    assert [each.name for each in (tmp_path / "trace").iterdir()] == [run_files.TRACE_MARKS]
    assert found[0].loop == 0
    last = {each.loop: each.rounds for each in found}
    steps, short = sorted(last)[-2:]
    assert 30 <= last[steps] <= 40
    assert 500 <= last[short] <= 2500
    assert len(found) < 12 * found[-1].seconds + 10
    made = reports(found, RoundsPosition())
    assert sum(each.name.startswith(f"loop-{steps}") for each in made) > 1
    assert {each.name for each in made if each.name.startswith(f"loop-{short}")} <= {
        f"loop-{short}x{unit}" for unit in (10, 100, 1000)
    }


def test_a_traced_program_has_marks_and_its_trace(cache: Path, tmp_path: Path) -> None:
    assert len(marks(cache, tmp_path / "trace", marks_only=False)) > 5
    names = {each.name for each in (tmp_path / "trace").iterdir()}
    assert names == {run_files.TRACE_MARKS, *(run_files.TRACE_RANK.format(rank=rank) for rank in (0, 1))}
