"""What tracing costs NAS CG class W: traced and untraced runs in turn, median against median.

On a rank for each processor as well: where ranks share processors, when they get them scatters more than tracing costs.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from scheduling.profiles.adapters import trace_library
from scheduling.runs.adapters import recorder
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH, need

pytestmark = pytest.mark.bench
ROUNDS = 9
PROGRAM = [sys.executable, "-m", "gridportal.workloads.cg", "--class", "W"]


def seconds(words: list[str], ranks: int) -> float:
    """The time that the program measures itself."""
    done = subprocess.run(
        [*LAUNCHERS[MPICH], "-n", str(ranks), *words], capture_output=True, text=True, timeout=300, check=True
    )
    found = re.search(r"^  seconds +([0-9.]+)$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    return float(found[1])


def cost_of_a_call(library: Path, folder: Path) -> float:
    """Seconds that recording one call takes, by a program that does nothing but call."""
    program = folder / "calls.c"
    program.write_text(
        "#include <mpi.h>\n#include <stdio.h>\nint main(int n, char **words) { double x = 0, y; MPI_Init(&n, &words);"
        "double t = MPI_Wtime(); for (int i = 0; i < 300000; i++) {"
        "MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);"
        "if (i % 3 == 0) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_SELF); }"
        'printf("%.9f\\n", (MPI_Wtime() - t) / 400000); MPI_Finalize(); return 0; }\n'
    )
    subprocess.run([MPICH, "-O2", "-o", str(folder / "calls"), str(program)], check=True, timeout=60)
    (folder / "calls-trace").mkdir()
    traced = [*recorder.prefix(library, folder / "calls-trace"), str(folder / "calls")]
    each = [min(_printed(words) for _ in range(5)) for words in (traced, [str(folder / "calls")])]
    return each[0] - each[1]


def _printed(words: list[str]) -> float:
    return float(subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("ranks", [2, 4])
def test_tracing_cg(ranks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = recorder.build(need(MPICH, "gcc"), tmp_path / "trace.so")
    traced = [*recorder.prefix(library, tmp_path / "trace"), *PROGRAM]
    plain_seconds, traced_seconds = [], []
    for number in range(ROUNDS):
        order = [(plain_seconds, PROGRAM), (traced_seconds, traced)]
        for times, words in order if number % 2 else order[::-1]:
            times.append(seconds(words, ranks))
    found = trace_library.collect(tmp_path / "trace")
    ratio = statistics.median(traced_seconds) / statistics.median(plain_seconds)
    least = min(traced_seconds) / min(plain_seconds)
    size = sum(file.stat().st_size for file in (tmp_path / "trace").iterdir())
    call = cost_of_a_call(library, tmp_path)
    share = call * found.calls / found.ranks / min(plain_seconds)
    with capsys.disabled():
        print(  # noqa: T201
            f"\nNAS CG class W, {ranks} ranks, {found.calls:,} calls in {size / 1e3:.0f} kB: traced / untraced "
            f"{ratio:.3f} (median of {ROUNDS}), {least:.3f} (fastest); "
            f"a call costs {1e6 * call:.2f} us, so {share:.2%} of the run"
        )
