"""What is told of a run whose processes were no ranks of one world; how it ends does not hang on it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters.selectors import setting
from scheduling.jobs.core.launcher import LAUNCHER, OPEN_MPI_LAUNCHER
from scheduling.messages import message
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import program_warnings, start_check
from scheduling.runs.services.ending import ending_of
from tests.markup import markup

OPEN_MPI_PROGRAM = Path("/bin/true").read_bytes() + b"Open MPI v4.1.4"

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_job, people, tmp_path) -> Run:
    """One of four ranks whose run directory is there."""
    run = make_job(people["user"], "succeeded", ranks=4).runs.get()
    run.run_dir = str(tmp_path)
    run.save()
    return run


def note(run: Run, *lines: str) -> None:
    folder = Path(run.run_dir, "mpi-worlds")
    folder.mkdir()
    for number, line in enumerate(lines):
        (folder / f"n{number}-7").write_text(line)


def test_four_that_were_alone_are_told_on_the_page_and_in_rest(run, client_as):
    note(run, *["1 openmpi MPICH Version:\t4.0.2"] * 4)
    reason = start_check.start_reason(run, OPEN_MPI_LAUNCHER)
    assert reason == Reason.of(Code.START_SINGLETONS, ranks=4, mpi="MPICH 4.0.2", launcher="Open MPI's mpirun")
    Run.objects.filter(pk=run.pk).update(start_reason=reason)
    assert "each of the 4 processes believed to be alone" in markup(client_as("user").get(f"/jobs/{run.job_id}/"))
    answer = client_as("user").get(f"/api/jobs/{run.job_id}/runs/1/").json()
    assert (answer["start_reason"], answer["start_reason_code"]) == (message(reason), "start_singletons")


@pytest.mark.parametrize(
    "lines",
    [
        ["4 pmi MPICH Version: 4.0.2"],
        ["1 pmi x"] * 3 + ["4 pmi x"],
        ["0 other "] * 3 + ["4 pmi x"],
        ["0 other "] * 3,
        ["1 pmi x"] * 8 + ["2 pmi x"],
        ["2 pmi x"] * 9,
        ["3 pmi x", "1 pmi x"],
        ["nonsense"],
    ],
)
def test_one_world_or_less_than_certainty_is_no_matter(run, lines):
    note(run, *lines)
    assert start_check.start_reason(run, LAUNCHER) == NOTHING


@pytest.mark.parametrize(
    ("lines", "found", "runs", "said"),
    [
        (["1 pmi x"], 1, 1, "One process was seen to start MPI, and it believed to be alone (rank 0 of 1), where 4"),
        (["1 pmi x", "1 pmi x"], 2, 2, "2 processes were seen to start MPI, and each believed to be alone (rank 0"),
        (["1 pmi x"] * 3 + ["nonsense"], 3, 3, "3 processes were seen"),
        (["0 other "] * 3 + ["1 pmi x"], 1, 1, "One process was seen"),
        (["3 pmi x"], 3, 1, "MPI was seen with 3 ranks, where 4 ranks were asked for."),
        (["2 pmi x", "1 pmi x"], 3, 2, "MPI was seen with 3 ranks in 2 runs of it, where 4"),
    ],
)
def test_fewer_ranks_than_were_asked_for_are_told_with_their_number(run, client_as, lines, found, runs, said):
    note(run, *lines)
    reason = start_check.start_reason(run, ("/opt/wrapper", "{ranks}"))
    assert reason == Reason.of(Code.START_FEWER, ranks=4, found=found, runs=runs, launcher="its launcher")
    assert message(reason).startswith(said)
    Run.objects.filter(pk=run.pk).update(start_reason=reason)
    assert message(reason) in markup(client_as("user").get(f"/jobs/{run.job_id}/"))
    assert client_as("user").get(f"/api/jobs/{run.job_id}/runs/1/").json()["start_reason_code"] == "start_fewer"


LOOP = ("sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9; do "$@"; done', "sh")


@pytest.mark.parametrize(("line", "code"), [("1 other x", Code.START_SINGLETONS), ("0 other ", Code.START_NO_MPI)])
def test_more_copies_than_the_job_has_ranks_are_told_with_their_number(run, line, code):
    note(run, *[line] * 9)
    reason = start_check.start_reason(run, LOOP)
    assert (reason.code, reason.facts["ranks"]) == (code, 9)
    if code is Code.START_SINGLETONS:
        assert message(reason).startswith("Its launcher started it: each of the 9 processes believed to be alone")
        assert "Let its launcher start the ranks once" in message(reason)


@pytest.mark.parametrize(
    ("launcher", "notes"),
    [(LOOP, True), (LAUNCHER, True), (("/opt/wrapper", "{ranks}"), True), (("env", "A=1"), False)],
)
def test_worlds_are_noted_whatever_starts_the_ranks_but_not_in_a_batch_script(run, launcher, notes):
    Run.objects.update(state="failed")  # else it has been in order, and needs no library on some clusters
    run.job.application.command = ["/opt/solver"]
    words = start_check.noting_prefix(run.job, setting(run.job.cluster), launcher, run.run_dir)
    assert any("GRIDPORTAL_WORLDS=" in word for word in words) == notes


@pytest.mark.parametrize(("exit_code", "state", "told"), [(0, "succeeded", True), (1, "failed", False)])
def test_copies_that_called_no_mpi_are_told_where_they_ended_well(run, client_as, exit_code, state, told):
    note(run, *["0 other "] * 4)
    run.verified = None
    ending = ending_of(run, RunStatus(BackendState.FINISHED, exit_code=exit_code), None)
    assert (ending.to.value, bool(ending.fields["start_reason"])) == (state, told)
    Run.objects.filter(pk=run.pk).update(start_reason=ending.fields["start_reason"])
    said = "4 copies of one program ran; none called MPI."
    assert (said in markup(client_as("user").get(f"/jobs/{run.job_id}/"))) == told
    answer = client_as("user").get(f"/api/jobs/{run.job_id}/runs/1/").json()
    assert (answer["start_reason_code"], said in answer["start_reason"]) == (("start_no_mpi" if told else "none"), told)


def running(make_job, people, folder: Path, **columns: object) -> Run:
    """One of four ranks that has run for five minutes, with the library that sees MPI begin."""
    run = make_job(people["user"], "running", ranks=4).runs.get()
    values = {
        "run_dir": str(folder),
        "script": "env GRIDPORTAL_WORLDS=/run/mpi-worlds sh",
        "started_at": timezone.now() - timedelta(minutes=5),
        **columns,
    }
    Run.objects.filter(pk=run.pk).update(**values)
    run.refresh_from_db()
    return run


def test_a_run_in_which_no_rank_begins_mpi_says_so_while_it_runs(make_job, people, client_as, tmp_path, public_folder):
    run = running(make_job, people, tmp_path)
    said = f"No rank has been seen to start MPI since {run.started_at:%H:%M} UTC."
    for address in (f"/jobs/{run.job_id}/", f"/jobs/{run.job_id}/runs/1/"):
        page = markup(client_as("user").get(address))
        assert said in page
        assert "script that calls" not in page
    script = public_folder / "wrap"
    script.write_text("#!/bin/sh\nexec mpirun -n 4 ./solver\n")
    run.job.application.command = [str(script)]
    run.job.application.save()
    assert "a script that calls mpirun itself" in markup(client_as("user").get(f"/jobs/{run.job_id}/"))
    note(run, "4 pmi x")
    assert "No rank has been seen" not in markup(client_as("user").get(f"/jobs/{run.job_id}/"))


@pytest.mark.parametrize(
    "columns",
    [
        {"started_at": datetime(2199, 1, 1, tzinfo=UTC)},  # it has only just begun, whenever this is tried
        {"script": "mpiexec"},
        {"progress_offset": 9},
        {"state": "succeeded"},
    ],
)
def test_where_nobody_can_know_a_running_run_says_nothing(make_job, people, tmp_path, columns):
    run = running(make_job, people, tmp_path, **columns)
    assert start_check.not_begun(run, timezone.now()) == NOTHING


def test_a_program_whose_copies_ended_well_has_been_tried(run):
    Run.objects.filter(pk=run.pk).update(state="succeeded", start_reason=Reason.of(Code.START_NO_MPI, ranks=4))
    tried = program_warnings.program_warnings(run.job.application)
    assert Code.NEVER_TRIED not in {warning.code for warning in tried}


def test_what_somebody_put_there_instead_is_no_matter(run, tmp_path):
    (tmp_path / "mpi-worlds").symlink_to("/etc")
    assert start_check.start_reason(run, LAUNCHER) == NOTHING


def test_without_notes_the_file_of_the_program_is_asked(run, public_folder):
    program = public_folder / "solver"
    program.write_bytes(OPEN_MPI_PROGRAM)
    run.job.application.command = [str(program)]
    assert start_check.start_reason(run, LAUNCHER).code is Code.START_OTHER_MPI
    assert start_check.start_reason(run, OPEN_MPI_LAUNCHER) == NOTHING
    assert start_check.start_reason(run, ("srun", "-n", "{ranks}")) == NOTHING
    program.chmod(0o600)
    assert start_check.start_reason(run, LAUNCHER) == NOTHING


def log(run: Run, *lines: str) -> None:
    Path(run.run_dir, "output.log").write_text("\n".join(lines) + "\n")


def test_a_script_that_calls_mpirun_itself_is_told_without_notes(run, public_folder):
    script = public_folder / "wrap"
    script.write_text("#!/bin/sh\nexec mpirun -n 4 ./solver\n")
    run.job.application.command = [str(script)]
    reason = start_check.start_reason(run, ("srun", "-n", "{ranks}"))
    assert reason == Reason.of(Code.START_INSIDE, ranks=4, inside="mpirun", launcher="srun")
    assert start_check.start_reason(run, ("env", "SLURM_NTASKS={ranks}")) == NOTHING


def test_one_that_began_alone_before_the_others_ended_leaves_the_file_to_tell(run, public_folder):
    program = public_folder / "solver"
    program.write_bytes(OPEN_MPI_PROGRAM)
    run.job.application.command = [str(program)]
    note(run, "1 pmi Open MPI v4.1.4")
    assert start_check.start_reason(run, LAUNCHER).code is Code.START_OTHER_MPI


def test_an_mpirun_that_turned_out_to_be_another_mpis_is_named_so(run):
    note(run, *["1 pmi Open MPI v4.1.4"] * 4)
    reason = start_check.start_reason(run, OPEN_MPI_LAUNCHER)
    assert (reason.code, reason.facts["launcher"]) == (Code.START_SINGLETONS, "MPICH's mpirun")
    assert "no mpirun on the search path is Open MPI's" in message(reason)


def test_copies_name_the_launcher_that_started_them_and_not_their_own(run):
    note(run, *["2 openmpi Open MPI v4.1.4"] * 4)
    assert start_check.start_reason(run, LAUNCHER).facts["launcher"] == "MPICH's mpiexec"


@pytest.mark.parametrize(
    ("line", "launcher", "mpi"),
    [
        ("but OMPI was not built with SLURM's PMI support and therefore cannot", ("srun",), "Open MPI"),
        ("Runtime environment uses unsupported PMI version PMIx. Aborting.", OPEN_MPI_LAUNCHER, "MPICH"),
    ],
)
def test_an_mpi_that_did_not_find_its_process_manager_is_told_with_the_next_step(run, line, launcher, mpi):
    log(run, "other", line)
    reason = start_check.start_reason(run, launcher)
    assert (reason.code, reason.facts["mpi"]) == (Code.START_NO_PMI, mpi)
    wanted = "srun --mpi=pmix" if launcher == ("srun",) else "Choose the MPI that it was built with"
    assert wanted in message(reason)


@pytest.mark.parametrize("trace", [False, True])
def test_a_run_of_which_srun_started_no_rank_has_failed_though_it_ended_with_0(run, trace):
    log(run, "srun: error: task 3 launch failed: Unspecified error", "srun: Job step aborted")
    job, application = run.job, run.job.application
    application.launcher, job.trace, run.verified = ["srun", "--mpi=pmix", "-n", "{ranks}"], trace, None
    status = RunStatus(BackendState.FINISHED, exit_code=0)
    ending = ending_of(run, status, None)
    assert (ending.to, ending.reason) == (RunState.FAILED, Reason.of(Code.START_NONE, launcher="srun"))
    assert ending.fields["start_reason"] == NOTHING
    application.launcher = list(LAUNCHER)
    assert ending_of(run, status, None).to is RunState.SUCCEEDED
