"""What recording costs a C program that exchanges about 100,000 small messages a second, for each MPI.

Runs with and without the library in turn; each pair of runs gives a ratio, their median stands in the table. One rank
that sends to itself is measured by its cpu clock, which a busy machine hardly disturbs: the cost of the calls alone.
Two ranks are measured by wall time, in which each call delays both.
"""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path

import pytest

from scheduling.runs.adapters import recorder
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH, need

pytestmark = pytest.mark.bench
PAIRS, ROUNDS, AMOUNT = 9, 100_000, 6000
#: Calls of one round: MPI_Irecv, MPI_Isend, MPI_Waitall.
CALLS = 3


def measured(words: list[str], ranks: int) -> float:
    """Seconds of the loop: cpu of one rank, wall of two."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    cpu, wall = map(float, done.stdout.split())
    return cpu if ranks == 1 else wall


@pytest.mark.timeout(900)
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi", "mpicc.mpich"], ids=["MPICH 5", "Open MPI 4.1", "MPICH 4.0"])
def test_recording_small_messages(mpicc: str, ranks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = recorder.build(need(mpicc, "gcc"), tmp_path / "trace.so")
    program = tmp_path / "messages"
    source = Path(__file__).with_name("messages.c")
    subprocess.run([mpicc, "-O2", "-o", str(program), str(source)], check=True, timeout=60)
    words = [str(program), str(ROUNDS), str(AMOUNT)]
    launcher = [*LAUNCHERS[mpicc], "-n", str(ranks)]
    plain, ratios, extra = [], [], []
    for number in range(PAIRS):
        prefix = recorder.prefix(library, tmp_path / f"trace-{number}")
        order = [launcher + words, [*launcher, *prefix, *words]]
        seconds = [measured(one, ranks) for one in (order if number % 2 else order[::-1])]
        without, recorded = seconds if number % 2 else seconds[::-1]
        plain.append(without)
        ratios.append(recorded / without)
        extra.append((recorded - without) / (ROUNDS * CALLS))
    rate = ROUNDS / statistics.median(plain)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{mpicc.rpartition('/')[2]:14} {ranks} rank{'s' * (ranks > 1)}, {'cpu' if ranks == 1 else 'wall'}: "
            f"{rate:,.0f} messages/s a rank, recorded / not {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f} of {PAIRS}), {1e9 * statistics.median(extra):.0f} ns a call"
        )
