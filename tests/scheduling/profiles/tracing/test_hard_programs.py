"""Programs that do what is seldom and allowed are recorded, and run as without the recording library."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gridportal.base import run_files
from scheduling.contracts.core.loop_rounds import marks_of
from scheduling.profiles.core import trace
from scheduling.profiles.core.trace import Call, Trace
from scheduling.runs.adapters import recorder
from scheduling.skeletons.core import skeleton
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH, Traced, need, recording_library
from tests.scheduling.profiles.tracing.test_library import HERE, compiled, times

#: Threads that have lists of their own, at most; the first is that of MPI_Init.
OWN_LISTS = 16


@pytest.fixture(scope="module", params=[MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The compiler of an MPI, and hard.c built with it."""
    need(request.param)
    return request.param, compiled(request.param, "hard.c", tmp_path_factory.mktemp("hard") / "hard")


def calls(found: Trace, name: str, rank: int = 0) -> list[Call]:
    return [call for call, _ in trace.weighted(found.processes[rank].body) if call.call == f"MPI_{name}"]


@pytest.mark.in_turn("program")
def test_numbers_are_written_without_the_programs_commas(
    traced: Traced, program: tuple[str, str], tmp_path: Path
) -> None:
    words = [need("localedef"), "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")]
    subprocess.run(words, check=False, capture_output=True, timeout=60)  # warnings end with 1
    if not (tmp_path / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip("no locale with a comma can be made here")
    found = traced(program[0], 2, "env", f"LOCPATH={tmp_path}", "LC_ALL=de_DE.UTF-8", program[1], "c")
    assert times(found, 0) == {"Barrier": 4}
    assert found.wall > 0.5
    marks = list(marks_of((tmp_path / "trace" / run_files.TRACE_MARKS).read_bytes()))
    assert [mark.rounds for mark in marks[1:]] == [2, 3, 4]


@pytest.mark.in_turn("program")
def test_threads_that_end_leave_their_lists_to_others(traced: Traced, program: tuple[str, str]) -> None:
    found = traced(program[0], 1, program[1], "s")
    assert len(found.processes[0].threads) <= OWN_LISTS
    assert sum(found.processes[0].threads) == times(found, 0)["Sendrecv"] == 40 * 5


@pytest.mark.in_turn("program")
def test_what_a_failed_call_has_not_made_is_not_asked_for(
    traced: Traced, program: tuple[str, str], tmp_path: Path
) -> None:
    found = traced(program[0], 2, program[1], "e", str(tmp_path))
    checks = "Comm_free" not in times(found, 0)
    assert {name: times(found, 0)[name] for name in ("Comm_split", "File_open", "Barrier")} == {
        "Comm_split": 1,
        "File_open": 3,
        "Barrier": 1,
    }
    assert [call.newcomm is None for call in calls(found, "Comm_split")] == [checks]


@pytest.mark.in_turn("program")
def test_threads_that_send_with_one_handle_use_few_slots(traced: Traced, program: tuple[str, str]) -> None:
    found = traced(program[0], 2, program[1], "t")
    assert times(found, 0)["Waitall"] == 300
    slots = {call.request for call in calls(found, "Isend")}
    assert max(slot for slot in slots if slot is not None) < 8


def test_long_lists_of_requests_take_little_memory(traced: Traced, tmp_path: Path) -> None:
    found = traced(MPICH, 1, compiled(MPICH, "hard.c", tmp_path / "hard"), "l")
    assert times(found, 0)["Waitall"] == 6000
    assert (tmp_path / "trace" / run_files.TRACE_RANK.format(rank=0)).stat().st_size < 32 * 2**20


@pytest.mark.in_turn("program")
def test_arguments_that_do_not_count_are_not_looked_at(traced: Traced, program: tuple[str, str]) -> None:
    found = traced(program[0], 2, program[1], "n")
    assert [call.bytes for call in calls(found, "Gather")] == [4, 0]
    assert [call.bytes for call in calls(found, "Gather", 1)] == [4, 4]


@pytest.mark.in_turn("program")
def test_who_looks_for_a_message_again_and_again_waits_and_does_not_compute(
    traced: Traced, program: tuple[str, str]
) -> None:
    found = traced(program[0], 2, program[1], "g")
    assert times(found, 0) == {"Irecv": 1, "Request_get_status": 1, "Wait": 1}
    assert found.processes[0].polls > 0
    assert trace.communicating(found.processes[0]) > trace.computing(found.processes[0])
    assert skeleton.build(found, target=1.0).segments


def test_a_program_with_an_address_sanitizer_is_recorded(
    traced: Traced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "hard"
    words = [need(MPICH, "gcc"), "-w", "-fsanitize=address", "-o", str(program), str(HERE / "hard.c"), "-lpthread"]
    if subprocess.run(words, check=False, capture_output=True, timeout=240).returncode:
        pytest.skip("this compiler has no address sanitizer")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    assert times(traced(MPICH, 1, str(program), "s"), 0) == {"Sendrecv": 200}


def test_a_full_disk_leaves_no_half_of_a_file(cache: Path, tmp_path: Path) -> None:
    prefix = recorder.prefix(recording_library(MPICH, cache), tmp_path / "trace")
    words = [*LAUNCHERS[MPICH], "-n", "1", *prefix, compiled(MPICH, "hard.c", tmp_path / "hard"), "f"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=240)
    assert "could not be completed" in done.stderr
    assert [file.name for file in (tmp_path / "trace").iterdir()] == [run_files.TRACE_MARKS]
