"""What a reason quotes of the logs of real failures: the line that a person wants to read.

The logs in `failures` were written by small programs under Open MPI 4.1, MPICH 4.0, MPICH 5.0 and Slurm 22.05; names
were changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.reasons import NOTHING, Code
from gridportal.slurm.translation import out_of_memory
from scheduling.jobs.core.error_lines import error_lines
from scheduling.jobs.core.last_messages import ended, not_started, shown_lines
from scheduling.jobs.core.launcher_lines import abort_line
from scheduling.messages import message

FAILURES = Path(__file__).parent / "failures"
SINGULAR = ["ERROR: matrix is singular at row 17"]
NO_MESH = ["cannot open file mesh.bin: No such file or directory"]
ASSERTION = ["app: solve.c:42: step: Assertion `dt > 0' failed."]
BOUNDS = ["Fortran runtime error: Index '4' of dimension 1 of array 'a' above upper bound of 3"]
NO_CELLS = ["ValueError: grid of 0 cells"]
#: By the name of the log: what is quoted of it; where several lines are, parts of each.
QUOTED: dict[str, list[str]] = {
    "mpich4-exit": NO_MESH,
    "mpich4-f-bounds": BOUNDS,
    "mpich4-mpi": ["Fatal error in internal_Send: Invalid rank", "MPI_Send(", "Invalid rank has value 7"],
    "mpich4-segv": ["Caught signal 11 (Segmentation fault: address not mapped"],
    "mpich5-abort": SINGULAR,
    "mpich5-assert": ASSERTION,
    "mpich5-f-segv": ["Program received signal SIGSEGV: Segmentation fault - invalid memory reference."],
    "mpich5-killed": ["BAD TERMINATION OF ONE OF YOUR", "PID 7746 RUNNING AT n3", "Killed (signal 9)"],
    "mpich5-mpi": ["Fatal error in internal_Send: Invalid rank", "MPI_Send(", "Invalid rank has value 7"],
    "mpich5-nolib": ["./nolib: error while loading shared libraries: libgone.so: cannot open"],
    "mpich5-py": NO_CELLS,
    "mpich5-py-plain": NO_CELLS,
    "mpich5-segv": ["step 1 residual", "step 2 residual", "Segmentation fault (signal 11)"],
    "mpich5-trunc": ["Message truncated", "MPI_Recv(", "4 bytes received but buffer size is 16"],
    "ompi-abort": SINGULAR,
    "ompi-assert": ASSERTION,
    "ompi-cpp": ["terminate called after throwing an instance of 'std::runtime_error'", "what():  mesh has no cells"],
    "ompi-exit": NO_MESH,
    "ompi-f-bounds": BOUNDS,
    "ompi-f-open": ["Fortran runtime error: Cannot open file 'missing.dat': No such file or directory"],
    "ompi-f-stop": ["ERROR STOP Energy did not converge"],
    "ompi-mpi": ["An error occurred in MPI_Send", "MPI_ERR_RANK: invalid rank"],
    "ompi-segv": ["Signal: Segmentation fault (11)"],
    "ompi-srun": [
        'The application appears to have been direct launched using "srun", but OMPI was not built with SLURM\'s PMI '
        "support and therefore cannot execute."
    ],
    "ompi-tooany": [
        "There are not enough slots available in the system to satisfy the 64",
        "slots that were requested",
    ],
    "ompi-trunc": ["An error occurred in MPI_Recv", "MPI_ERR_TRUNCATE: message truncated"],
    "slurm-cancel": ["step 1 residual"],
    "slurm-exit": ["ERROR: no mesh"],
    "slurm-kill": ["step 1 residual"],
    "slurm-limit": ["step 1 residual"],
    "slurm-plain": ["step 1 residual"],
    "slurm-segv": ["step 1 residual", "srun: error: m3: task 0: Segmentation fault"],
}
#: By the name of the log: the program and the nodes that say so.
NOT_STARTED = {
    "mpich4-noprog": ("./nothere", ["n3"]),
    "mpich5-noprog": ("./nothere", ["n3"]),
    "ompi-noprog": ("./nothere", ["n3"]),
    "slurm-noprog": ("/no/such/program", ["m4", "m5"]),
}


def lines_of(name: str) -> list[str]:
    return [line[:200] for line in (FAILURES / f"{name}.txt").read_text().splitlines() if line.strip()]


def test_every_log_is_tried() -> None:
    assert {path.stem for path in FAILURES.iterdir()} == {*QUOTED, *NOT_STARTED}


@pytest.mark.parametrize("name", QUOTED)
def test_the_first_error_is_quoted(name: str) -> None:
    quoted = shown_lines(lines_of(name))
    assert len(quoted) == len(QUOTED[name]), quoted
    for line, part in zip(quoted, QUOTED[name], strict=True):
        assert part in line


@pytest.mark.parametrize("name", NOT_STARTED)
def test_a_program_that_is_not_there_is_named(name: str) -> None:
    reason = not_started(lines_of(name))
    program, nodes = NOT_STARTED[name]
    assert (reason.code, reason.facts["program"], reason.facts["nodes"]) == (Code.NO_PROGRAM, program, nodes)
    assert message(reason).startswith(f"The program {program} does not ")


SLURM = [
    "step 2 residual 0.25",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.",
    "srun: error: n3: task 1: Out Of Memory",
    "srun: Terminating StepId=12.0",
    "slurmstepd: error: *** STEP 12.0 ON n3 CANCELLED AT 2026-11-23T14:00:00 ***",
    "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
]


def test_of_slurm_what_it_did_and_not_what_followed_is_quoted() -> None:
    assert shown_lines(SLURM) == SLURM[1:2]
    assert out_of_memory(SLURM)
    assert shown_lines([SLURM[0], *SLURM[2:]]) == [SLURM[0], "srun: error: n3: task 1: Out Of Memory"]
    limit = "slurmstepd: error: *** JOB 12 ON n3 CANCELLED AT 2026-11-23T14:00:00 DUE TO TIME LIMIT ***"
    assert shown_lines([SLURM[0], limit]) == SLURM[:1]


@pytest.mark.parametrize(
    "line",
    [
        "max error 1.2e-9 after 12 steps",
        "error: 1.5e-06",
        "ERROR = 0.001",
        "L2 ERROR: 3.1D-07",
        "0 errors, 0 warnings",
        "Solver: start",
        "relative error norm",
    ],
)
def test_numbers_that_are_called_errors_are_none(line: str) -> None:
    last = ["step 8", "step 9", "bye"]
    assert shown_lines([line, *last]) == last


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: no convergence",
        "Error: file mesh.bin is empty",
        "solver: error: no such option",
        "*** FATAL *** giving up",
        "forrtl: severe (174): SIGSEGV, segmentation fault occurred",
        "srun: error: Unable to create step for job 12: Requested nodes are busy",
        "bash: line 3: module: command not found",
    ],
)
def test_an_error_goes_before_what_comes_after_it(line: str) -> None:
    assert shown_lines(["step 1", line, "cleaning up", "cleaned up", "bye"]) == [line]


def test_without_an_error_the_last_lines_are_quoted() -> None:
    assert shown_lines(["one", "two", "three", "four"]) == ["two", "three", "four"]
    assert shown_lines([]) == []
    assert message(ended(3, None, NOTHING, ["one"])) == "The program ended with exit code 3. Its log says: one"


def test_the_error_of_one_rank_is_found_among_the_tracebacks_of_many() -> None:
    frames = ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>', "    solve()"]
    lines = ["start", *frames * 64, *["mesh.NoCells: grid of 0 cells"] * 64]
    assert shown_lines(lines) == ["mesh.NoCells: grid of 0 cells"]


@given(st.lists(st.text(max_size=60), max_size=20))
def test_whatever_a_log_has_it_is_quoted_in_three_lines_at_most(lines: list[str]) -> None:
    assert len(shown_lines(lines)) <= 3


def test_a_warning_of_open_mpis_launcher_about_itself_is_no_error() -> None:
    warning = "[d:00010] plm:rsh: Warning: setpgid(15,15) failed in parent with errno=Permission denied(13)"
    assert error_lines([warning, "step 1"], 3) == []
    assert error_lines([warning, *NO_MESH], 3) == NO_MESH


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("/runs/trace-0f.so: 1: exec: /tmp/ring: not found", "No such file or directory"),
        ("wrap.sh: line 3: exec: /tmp/ring: not found", "No such file or directory"),
        ("sh: 1: exec: /tmp/ring: Permission denied", "Permission denied"),
    ],
)
def test_a_program_that_a_shell_cannot_start_is_named(line: str, error: str) -> None:
    reason = ended(127, None, NOTHING, [line, line, line])
    assert reason.code == Code.NO_PROGRAM
    assert reason.facts == {"program": "/tmp/ring", "error": error, "nodes": []}


def test_a_program_that_a_shell_cannot_start_is_named_with_the_nodes_that_say_so() -> None:
    own = "./ring: 1: exec: ./ring: not found"
    lines = ["n10 cannot start ./ring", own, "n9 cannot start ./ring", own, "n1 cannot start it"]
    reason = ended(127, None, NOTHING, lines)
    assert reason.facts == {"program": "./ring", "error": "No such file or directory", "nodes": ["n9", "n10"]}


def test_the_last_lines_are_quoted_without_frames_and_none_twice() -> None:
    stars = "*" * 58
    assert shown_lines([stars, "mpirun.openmpi does not support recursive calls", stars, "no", "no", "no"]) == [
        "mpirun.openmpi does not support recursive calls",
        "no",
    ]


HYDRAS = "Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - process 1"
OPEN_MPIS = [
    "-" * 74,
    "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD",
    "with errorcode 7.",
    "",
    "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.",
    "-" * 74,
]
OPEN_MPI_5 = [*OPEN_MPIS[:2], "  Proc: [[1234,1],1]", "  Errorcode: 7", *OPEN_MPIS[3:]]


@pytest.mark.parametrize(
    ("lines", "quoted"),
    [
        ([HYDRAS], HYDRAS),
        (["application called MPI_Abort(comm=0x84000002, 7) - process 1"], ""),
        (OPEN_MPIS, "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 7"),
        (OPEN_MPI_5, "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD Proc: [[1234,1],1] Errorcode: 7"),
    ],
)
def test_of_a_program_that_says_nothing_itself_the_call_of_mpi_abort_is_quoted(lines: list[str], quoted: str) -> None:
    assert shown_lines(["one", "two", "three", *lines]) == ["two", "three", quoted or lines[0]]
    assert shown_lines(["ERROR: no mesh", *lines]) == ["ERROR: no mesh"]


def test_the_call_of_mpi_abort_goes_before_the_ranks_that_were_killed_for_it() -> None:
    assert shown_lines(["step 1", HYDRAS, *lines_of("mpich5-killed")[3:]]) == ["step 1", HYDRAS]


@pytest.mark.parametrize(("code", "is_unseen"), [(0, True), (256, True), (7, False), (255, False), (-1, False)])
def test_a_call_of_mpi_abort_is_unseen_where_its_code_makes_an_exit_code_of_0(code: int, *, is_unseen: bool) -> None:
    for lines in ([HYDRAS.replace("7", str(code))], [line.replace("7", str(code)) for line in OPEN_MPIS]):
        assert bool(abort_line(lines, unseen=True)) == is_unseen
        assert abort_line(lines)


def test_a_signal_of_a_rank_under_open_mpi_is_quoted_unless_its_backend_says_why() -> None:
    line = "mpirun.openmpi noticed that process rank 1 with PID 0 on node n3 exited on signal 15 (Terminated)."
    assert shown_lines(["step 1", "-" * 74, line, "-" * 74]) == ["step 1", line]
    assert shown_lines(["step 1", "-" * 74, line, "-" * 74], stopped=True) == ["step 1"]
