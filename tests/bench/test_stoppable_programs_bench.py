"""What the calls of SRS cost programs that nobody stops.

Two measures. Pairs of runs, with and without a place for checkpoints, in turn: the difference of each pair in seconds
of processors, which a busy machine changes less than those of the clock; ranks that wait for each other spin, though,
so that it is not without noise. And one run whose calls are timed inside: the seconds of a rank's processor that
beginning and end of SRS take, however long the program is, and what part of all the calls of check_stop take.
"""

from __future__ import annotations

import json
import resource
import statistics
from pathlib import Path

import pytest

from tests.gridportal.workloads import mpi

pytestmark = pytest.mark.bench
PAIRS, RANKS = 9, 2
#: Each for some seconds, so that beginning and ending weigh little, and for some hundred calls.
PROGRAMS = {
    "heat": ("--rows", "512", "--columns", "512", "--steps", "3000"),
    "cg": ("--class", "A"),
    "dense.qr": ("--size", "4000"),
    "dense.lu_system": ("--size", "4000"),
    "dense.eigenvalues": ("--size", "900"),
}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("program", PROGRAMS)
def test_overhead_when_nobody_asks(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = []
    for number in range(PAIRS):
        seconds = {}
        for stoppable in (number % 2 == 0, number % 2 != 0):
            run_dir = tmp_path / f"{number}-{stoppable}"
            run_dir.mkdir()
            seconds[stoppable] = ran(f"gridportal.workloads.{program}", run_dir, program, stoppable=stoppable)
        more.append(100 * (seconds[True] / seconds[False] - 1))
    low, middle, high = statistics.quantiles(more, n=4)
    inside = tmp_path / "inside"
    inside.mkdir()
    ran("tests.bench.timed_calls", inside, program)
    told = json.loads((inside / "calls.json").read_text())
    calls = told["calls"]
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{program}: pairs {middle:+.2f} % (half of them {low:+.2f} to {high:+.2f}); "
            f"inside {1e3 * told['ends']:.1f} ms to begin and end, and {100 * sum(calls) / told['seconds']:.3f} % of "
            f"{told['seconds']:.2f} s for {len(calls)} calls of check_stop, "
            f"in the median {1e6 * statistics.median(calls):.1f} us"
        )


def ran(module: str, run_dir: Path, program: str, *, stoppable: bool = True) -> float:
    """Seconds of processors of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = (program, *PROGRAMS[program]) if module == "tests.bench.timed_calls" else PROGRAMS[program]
    done = mpi.run(RANKS, module, *words, run_dir=run_dir, stoppable=stoppable)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
