"""What the calls of SRS cost programs that nobody stops: runs with and without a place for checkpoints, in turn.

The fastest of each count, since whatever else the machine does only makes runs longer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gridportal.workloads import mpi

pytestmark = pytest.mark.bench
PAIRS, RANKS = 4, 2
PROGRAMS = {
    "heat": ("--rows", "512", "--columns", "512", "--steps", "1500"),
    "cg": ("--class", "W"),
    "dense.qr": ("--size", "1500"),
    "dense.lu_system": ("--size", "2000"),
    "dense.eigenvalues": ("--size", "900"),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_overhead_when_nobody_asks(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for number in range(PAIRS):
        for stoppable in (number % 2 == 0, number % 2 != 0):
            run_dir = tmp_path / f"{number}-{stoppable}"
            run_dir.mkdir()
            seconds[stoppable].append(ran(program, run_dir, stoppable=stoppable))
    without, with_calls = min(seconds[False]), min(seconds[True])
    with capsys.disabled():
        more = 100 * (with_calls / without - 1)
        print(f"\n{program}: {without:.3f} s, with the calls {with_calls:.3f} s: {more:+.2f} %")  # noqa: T201


def ran(program: str, run_dir: Path, *, stoppable: bool) -> float:
    """Seconds that the program tells of."""
    done = mpi.run(RANKS, f"gridportal.workloads.{program}", *PROGRAMS[program], run_dir=run_dir, stoppable=stoppable)
    assert done.returncode == 0, done.stderr
    return float(mpi.events(run_dir)[-1]["seconds"])
