"""Every kind of call is counted, under each MPI that has it, and a skeleton plays it or says why not."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.reasons import Code
from scheduling.profiles.adapters import trace_library
from scheduling.profiles.core import profile, trace
from scheduling.runs.adapters import recorder
from scheduling.skeletons.core import skeleton
from tests.scheduling.profiles.tracing.conftest import MPICH, Traced, need
from tests.scheduling.profiles.tracing.test_library import compiled

MPIS = [MPICH, "mpicc.openmpi"]
NAMES = ["MPICH", "Open MPI"]
#: By letter of kinds.c: calls of rank 0 that must be there, bytes from rank 0 to rank 1 of two, and what is said.
KINDS: dict[str, tuple[dict[str, int], float, set[Code]]] = {
    "f": ({"Win_fence": 6, "Put": 5, "Get": 5}, 5 * 80 + 5 * 12, {Code.TRACE_STAND_INS}),
    "l": ({"Win_lock": 1, "Accumulate": 1, "Win_flush": 1, "Fetch_and_op": 1}, 8 + 2 * 8, set()),
    "w": ({"Win_post": 1, "Win_start": 1, "Put": 1, "Win_complete": 1, "Win_wait": 1}, 48, set()),
    "p": ({"Send_init": 1, "Recv_init": 1, "Startall": 3, "Waitall": 3}, 3 * 28, set()),
    "c": ({"Bcast_init": 1, "Start": 4, "Wait": 4}, 4 * 36, set()),
    "n": (
        {"Neighbor_alltoall": 1, "Ineighbor_alltoall": 1, "Neighbor_alltoall_init": 1, "Start": 2},
        2 * (16 + 24 + 2 * 32),
        {Code.TRACE_STAND_INS},
    ),
    "i": ({"File_open": 1, "File_write_at_all": 1, "File_iwrite_at": 1, "File_read_at": 1, "File_close": 1}, 0, set()),
    "b": ({"Comm_split": 1, "Intercomm_create": 1, "Send": 1}, 44, set()),
    "d": ({"Bsend": 1, "Buffer_detach": 1}, 52, set()),
}
REFUSED = {"l": "MPI_Win_lock", "w": "MPI_Win_post"}


@pytest.fixture(scope="module", params=MPIS, ids=NAMES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The compiler of an MPI, and kinds.c built with it."""
    need(request.param)
    return request.param, compiled(request.param, "kinds.c", tmp_path_factory.mktemp("kinds") / "kinds")


@pytest.mark.in_turn("program")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_call_is_counted(traced: Traced, program: tuple[str, str], kind: str, tmp_path: Path) -> None:
    calls, to_next, limits = KINDS[kind]
    found = traced(program[0], 2, program[1], kind, str(tmp_path))
    times = _times(found)
    assert {name: times[name] for name in calls} == calls
    seen = profile.of_trace(found)
    assert seen.sizes[0, 1] == to_next
    assert {limit.code for limit in seen.limits} - {Code.TRACE_NO_FILES} == limits
    if kind in REFUSED:
        with pytest.raises(ImpossibleError, match=REFUSED[kind]):
            skeleton.build(found, target=1.0)
    else:
        assert skeleton.build(found, target=1.0).segments


@pytest.mark.in_turn("program")
def test_bytes_of_files_are_no_messages(traced: Traced, program: tuple[str, str], tmp_path: Path) -> None:
    found = profile.of_trace(traced(program[0], 2, program[1], "i", str(tmp_path)))
    assert found.file_bytes == (2 * 400, 2 * (800 + 80))
    assert found.sizes.sum() == 0
    assert found.storing
    assert profile.parse(profile.document(found)).limits == found.limits


@pytest.mark.in_turn("program")
def test_calls_of_threads_are_counted_for_each(traced: Traced, program: tuple[str, str], tmp_path: Path) -> None:
    found = traced(program[0], 2, program[1], "t", str(tmp_path))
    assert sorted(found.processes[1].threads) == [0, 10, 20]
    assert _times(found) == {"Sendrecv": 30}
    assert [limit.code for limit in profile.of_trace(found).limits] == [Code.TRACE_THREADS]
    with pytest.raises(ImpossibleError, match="threads"):
        skeleton.build(found, target=1.0)


def test_spawned_processes_leave_the_trace_of_their_parents(traced: Traced, tmp_path: Path) -> None:
    """Under Open MPI alone: MPICH's over UCX now and then cannot reach what it spawned, recorded or not."""
    mpicc = "mpicc.openmpi"
    found = traced(mpicc, 2, compiled(mpicc, "kinds.c", tmp_path / "kinds"), "s", str(tmp_path))
    assert _times(found)["Comm_spawn"] == 1
    assert Code.TRACE_OTHER_WORLDS in {limit.code for limit in profile.of_trace(found).limits}


@pytest.mark.in_turn("program")
def test_a_joined_communicator_is_of_another_world(traced: Traced, program: tuple[str, str]) -> None:
    found = traced(program[0], 2, program[1], "j")
    calls = {call.call: call for call, _ in trace.weighted(found.processes[0].body)}
    assert calls["MPI_Comm_join"].newcomm in found.inter
    assert calls["MPI_Comm_disconnect"].comm == calls["MPI_Comm_join"].newcomm
    assert Code.TRACE_OTHER_WORLDS in {limit.code for limit in profile.of_trace(found).limits}
    assert skeleton.build(found, target=1.0).segments


def test_a_partitioned_message_is_one(traced: Traced, tmp_path: Path) -> None:
    found = traced(MPICH, 2, compiled(MPICH, "kinds.c", tmp_path / "kinds"), "q")
    calls = _times(found)
    assert [calls[f"Pready{kind}"] for kind in ("", "_range", "_list")] == [1, 1, 1]
    assert profile.of_trace(found).sizes[0, 1] == 4 * 5 * 8
    assert Code.TRACE_PARTITIONS in {limit.code for limit in profile.of_trace(found).limits}
    assert skeleton.build(found, target=1.0).segments


SESSION = """
#include <mpi.h>
int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int x = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Bcast(&x, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
"""


def test_a_program_of_sessions_alone_is_recorded(traced: Traced, tmp_path: Path) -> None:
    source = tmp_path / "session.c"
    source.write_text(SESSION)
    subprocess.run([need(MPICH, "gcc"), "-o", str(tmp_path / "session"), str(source)], check=True, timeout=240)
    found = traced(MPICH, 2, str(tmp_path / "session"))
    assert _times(found) == {"Comm_create_from_group": 1, "Bcast": 1, "Comm_free": 1}
    assert all(process.complete for process in found.processes)
    assert profile.of_trace(found).sizes[0, 1] == 4


@pytest.mark.in_turn("program")
def test_programs_that_another_launcher_starts_are_told_as_copies(
    program: tuple[str, str], cache: Path, tmp_path: Path
) -> None:
    """Without their own launcher ranks are worlds of one; what a wrapper or another MPI's launcher makes of them."""
    prefix = recorder.prefix(recorder.built(program[0], cache), tmp_path / "trace")
    for _ in range(3):
        subprocess.run([*prefix, program[1], ""], check=True, timeout=240, capture_output=True)
    with pytest.raises(InputError, match="3 runs of one rank each"):
        trace_library.collect(tmp_path / "trace")


def _times(found: trace.Trace) -> Counter[str]:
    count: Counter[str] = Counter()
    for call, number in trace.weighted(found.processes[0].body):
        count[call.call.removeprefix("MPI_")] += number
    return count
