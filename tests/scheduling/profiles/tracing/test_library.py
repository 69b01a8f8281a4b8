"""The recording library: what C, Fortran and mpi4py programs call, on MPICH and Open MPI, is what the trace says."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gridportal.base.reasons import Code
from scheduling.jobs.core.patterns import named
from scheduling.profiles.core import profile, trace
from scheduling.profiles.core.trace import ANY, Call, Loop, Trace
from tests.scheduling.profiles.tracing.conftest import MPICH, Traced, need

HERE = Path(__file__).parent
RANKS = 4


#: What the placeholders of many.f90 become, by how the program gets MPI.
INTEGERS = dict.fromkeys(("REQUEST", "COMM", "WINDOW", "HANDLE"), "integer")
FORTRAN = {
    "mpif.h": {"  use MODULE\n  implicit none\n": "  implicit none\n  include 'mpif.h'\n", **INTEGERS},
    "use mpi": {"MODULE": "mpi", **INTEGERS},
    "use mpi_f08": {
        "MODULE": "mpi_f08",
        "REQUEST": "type(MPI_Request)",
        "COMM": "type(MPI_Comm)",
        "WINDOW": "type(MPI_Win)",
        "HANDLE": "type(MPI_File)",
    },
}


def compiled(compiler: str, source: str, program: Path) -> str:
    """`source`: a file here, or how many.f90 gets MPI."""
    need(compiler)
    words = FORTRAN.get(source)
    file = program.with_suffix(".f90" if words else ".c")
    text = (HERE / ("many.f90" if words else source)).read_text()
    for old, new in (words or {}).items():
        text = text.replace(f"{old} ::", f"{new} ::") if f"{old} ::" in text else text.replace(old, new)
    file.write_text(text.replace("FOLDER", str(program.parent)))
    flags = ["-w", *(["-ffree-line-length-none"] if words else [])]  # the name of the folder may be long
    subprocess.run([compiler, *flags, "-o", str(program), str(file), "-lpthread"], check=True, timeout=240)
    return str(program)


def in_a_second(seen: profile.Profile) -> profile.Profile:
    """The profile of a program that took a second: which pairs matter is a rate, and this machine may be busy."""
    return replace(seen, wall=1.0)


def times(found: Trace, rank: int) -> Counter[str]:
    count: Counter[str] = Counter()
    for call, number in trace.weighted(found.processes[rank].body):
        count[call.call.removeprefix("MPI_")] += number
    return count


@pytest.mark.in_turn("mpicc")
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
def test_a_c_program_is_recorded_call_by_call(traced: Traced, mpicc: str, tmp_path: Path) -> None:
    found = traced(mpicc, RANKS, compiled(mpicc, "many.c", tmp_path / "many"), "12")
    assert times(found, 3) == {
        "Irecv": 24,
        "Isend": 12,
        "Waitall": 24,
        "Sendrecv": 12,
        "Send": 24 + 3,
        "Test": 12,
        "Recv_init": 1,
        "Send_init": 1,
        "Startall": 12,
        "Request_free": 2,
        "Bcast": 1,
        "Allreduce": 1,
        "Alltoall": 1,
        "Gatherv": 1,
        "Allgatherv": 1,
        "Iallreduce": 1,
        "Wait": 1,
        "Comm_split": 3,
        "Comm_free": 3,
    }
    first = found.processes[0].body[0]
    assert isinstance(first, Loop)
    assert first.count == 12
    receive, send, wait, both, anyone, *_ = first.body
    assert isinstance(receive, Call)
    assert isinstance(send, Call)
    assert isinstance(wait, Call)
    assert isinstance(both, Call)
    assert isinstance(anyone, Call)
    assert (receive.source, receive.recv_bytes, receive.request, receive.tag) == (3, 8000, 0, 7)
    assert (send.peer, send.bytes, send.request, send.compute.n) == (1, 8000, 1, 12)
    assert wait.requests == (0, 1)
    assert (both.peer, both.source, both.bytes, both.tag, both.recv_tag) == (1, 3, 40, 1, 1)
    assert (anyone.source, anyone.tag) == (ANY, ANY)


@pytest.mark.in_turn("mpicc")
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
def test_ranks_in_a_part_of_the_world_are_those_of_the_world(traced: Traced, mpicc: str, tmp_path: Path) -> None:
    found = traced(mpicc, RANKS, compiled(mpicc, "many.c", tmp_path / "many"), "1")
    assert set(found.comms.values()) == {(0, 1, 2, 3), (2, 0), (3, 1)}
    halves = {(call.peer, number) for call, number in trace.weighted(found.processes[2].body) if call.bytes == 20}
    assert halves == {(0, 3)}  # rank 0 of its half is rank 2 of the world and sends to the other
    gathered = next(call for call, _ in trace.weighted(found.processes[0].body) if call.call == "MPI_Gatherv")
    assert (gathered.counts, gathered.root, gathered.bytes) == ((4, 8, 12, 16), 0, 4)
    sizes = profile.of_trace(found).sizes
    persistent = 400
    assert sizes[2, 3] >= 8000 + 40 + 4 + persistent


@pytest.mark.in_turn("mpi")
@pytest.mark.parametrize("source", FORTRAN)
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_fortran_program_is_recorded_once(traced: Traced, mpi: str, source: str, tmp_path: Path) -> None:
    found = traced(f"mpicc.{mpi}", RANKS, compiled(f"mpif90.{mpi}", source, tmp_path / "many"))
    for rank in range(RANKS):
        assert times(found, rank) == {
            "Irecv": 10,
            "Isend": 10,
            "Waitall": 10,
            "Sendrecv": 10,
            "Allreduce": 1,
            "Comm_split": 1,
            "Bcast": 1,
            "Comm_free": 1,
            "Win_create": 1,
            "Win_fence": 2,
            "Put": 1,
            "Win_free": 1,
            "File_open": 1,
            "File_write_at": 1,
            "File_close": 1,
        }
    assert profile.of_trace(found).file_bytes == (0, RANKS * 80)
    loop = found.processes[1].body[0]
    assert isinstance(loop, Loop)
    assert [getattr(call, "requests", None) for call in loop.body] == [(), (), (0, 1), ()]
    assert found.processes[1].complete


def test_an_mpi4py_program_is_recorded_through_its_large_count_calls(traced: Traced) -> None:
    found = traced(MPICH, RANKS, sys.executable, "-m", "gridportal.workloads.cg", "--class", "S")
    seen = in_a_second(profile.of_trace(found))
    assert [pair[:2] for pair in seen.dominant] == [(0, 1), (2, 3), (1, 2)]
    assert seen.recognized.name == "line"
    assert seen.numbers is not None
    exchanged = (
        16 * 26 * 5600
    )  # 15 iterations and the one that warms up; 26 matrix products, a quarter of 700 rows each
    assert seen.sizes[1, 2] == pytest.approx(exchanged, rel=0.01)
    assert any(phase.repeats == 15 for phase in seen.phases)


@pytest.mark.parametrize("program", [pytest.param("qr", marks=pytest.mark.slow), "lu_system"])
def test_dense_factorizations_talk_along_rows_and_columns(traced: Traced, program: str) -> None:
    words = [sys.executable, "-m", f"gridportal.workloads.dense.{program}", "--size", "128", "--block", "16"]
    found = in_a_second(profile.of_trace(traced(MPICH, 6, *words)))
    assert {pair[:2] for pair in found.dominant} == {edge[:2] for edge in named("rows-columns:2x3", 6).edges}


def test_a_program_that_can_be_stopped_repeats_itself_in_its_trace(traced: Traced, tmp_path: Path) -> None:
    words = ["env", f"GRIDPORTAL_CHECKPOINTS={tmp_path / 'checkpoints'}", sys.executable, "-m"]
    seen = in_a_second(profile.of_trace(traced(MPICH, RANKS, *words, "gridportal.workloads.cg", "--class", "S")))
    assert seen.recognized.name == "line"
    assert any(phase.repeats >= 13 for phase in seen.phases)


SLEEPS = """
import time
from mpi4py import MPI
for _ in range(20):
    time.sleep(0.05)
    MPI.COMM_WORLD.Barrier()
"""
COMPUTES = """
from mpi4py import MPI
for _ in range(20):
    sum(number * number for number in range(300_000))
    MPI.COMM_WORLD.Barrier()
"""
HELPED = """
import hashlib, threading
from mpi4py import MPI
data = bytes(30_000_000)
for _ in range(20):
    helper = threading.Thread(target=lambda: hashlib.sha256(data).digest())
    helper.start()
    helper.join()
    MPI.COMM_WORLD.Barrier()
"""


@pytest.mark.parametrize(("program", "waits"), [(SLEEPS, True), (COMPUTES, False), (HELPED, False)])
def test_a_program_that_sleeps_is_told_from_one_that_computes(traced: Traced, program: str, waits: bool) -> None:
    """One that sleeps is judged as if there had always been a processor: on a busy machine nothing is said of it."""
    trace = traced(MPICH, 2, sys.executable, "-c", program)
    if waits:
        trace = replace(trace, processes=tuple(replace(process, ready=0.0) for process in trace.processes))
    found = profile.of_trace(trace)
    assert (found.warning.code is Code.PROGRAM_WAITS) is waits, (found.computing, found.waiting)
    assert profile.parse(profile.document(found)).warning == found.warning


ALL = {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
SQUARE = {(0, 1), (0, 2), (1, 3), (2, 3)}


@pytest.mark.parametrize(
    ("program", "pairs"),
    [
        *(("is_sort", ALL), ("mg", SQUARE), ("ep", set())),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("bt", ALL), ("ft", ALL), ("lu", SQUARE))),
    ],
)
def test_the_nas_programs_talk_as_figure_2_shows(traced: Traced, program: str, pairs: set[tuple[int, int]]) -> None:
    words = [sys.executable, "-m", f"gridportal.workloads.{program}"]
    found = in_a_second(profile.of_trace(traced(MPICH, RANKS, *words)))
    assert {pair[:2] for pair in found.dominant} == pairs
    assert found.ratio is not None


def test_hundreds_of_thousands_of_calls_take_a_small_file(traced: Traced, tmp_path: Path) -> None:
    program = tmp_path / "many.c"
    program.write_text(
        "#include <mpi.h>\n#include <stdlib.h>\nint main(int n, char **words) { double x[64], y; MPI_Init(&n, &words);"
        "for (int i = 0; i < 300000; i++) {"
        "MPI_Allreduce(x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);"
        "if (i < 100000 && rand() % 5 == 0) MPI_Bcast(x, rand() % 64, MPI_DOUBLE, 0, MPI_COMM_SELF); }"
        "MPI_Finalize(); return 0; }\n"
    )
    subprocess.run([need(MPICH, "gcc"), "-O2", "-o", str(tmp_path / "many"), str(program)], check=True, timeout=240)
    found = traced(MPICH, 1, str(tmp_path / "many"))
    assert times(found, 0)["Allreduce"] == 300_000
    assert sum(file.stat().st_size for file in (tmp_path / "trace").iterdir()) < 8 * 2**20


def test_what_an_aborted_program_did_is_kept(traced: Traced, tmp_path: Path) -> None:
    program = tmp_path / "abort.c"
    program.write_text(
        "#include <mpi.h>\nint main(int n, char **words) { MPI_Init(&n, &words); MPI_Barrier(MPI_COMM_WORLD);"
        "MPI_Abort(MPI_COMM_WORLD, 3); return 0; }\n"
    )
    subprocess.run([need(MPICH, "gcc"), "-o", str(tmp_path / "abort"), str(program)], check=True, timeout=240)
    found = traced(MPICH, 1, str(tmp_path / "abort"), code=3)
    assert not found.processes[0].complete
    assert times(found, 0) == {"Barrier": 1}


def test_bytes_of_a_profile_are_those_that_were_sent(traced: Traced, tmp_path: Path) -> None:
    found = profile.of_trace(traced(MPICH, RANKS, compiled(MPICH, "many.c", tmp_path / "many"), "5"))
    ring = [(a, b) for a, b, _ in found.dominant]
    assert found.sizes.sum() >= RANKS * 5 * (8000 + 40 + 4 + 400)
    assert all((a - b) % RANKS in (1, RANKS - 1) for a, b in ring)
    assert np.diag(found.sizes).sum() == 0
