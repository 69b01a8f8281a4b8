"""A run whose program told nothing but its output: the check, the seconds and the figures are found in that."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.output_search import OutputTooSlowError
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.messages import brief, message
from scheduling.placing.services import following, rounds
from scheduling.runs.models import Run
from scheduling.runs.services import output_check
from tests.fake_grid import FakeGrid
from tests.markup import markup

PATTERNS = {
    "success": "^ *Verification *= *SUCCESSFUL",
    "failure": "ERROR|NaN",
    "seconds": {"pattern": "Time = (.*)", "unit": "ms"},
    "figures": [
        {"name": "energy", "pattern": r"Total Energy = (\S+)", "unit": "eV"},
        {"name": "atoms", "pattern": "(.*) atoms"},
    ],
}
GOOD = "4000 atoms\nTotal Energy = -12.0D+00\nTotal Energy = -12.5D+00\nTime = 1500\nVerification = SUCCESSFUL\n"
RESULT = {"event": "result", "verified": True, "seconds": 2.5, "figures": {"energy": 1, "zeta": 8.6}}


@pytest.fixture
def ended(application: Application, submit: Callable[..., Job], fake_grid: FakeGrid) -> Callable[..., Run]:
    """ended(log, *events, exit_code=0, patterns=..., count=1): the first of some runs that are over."""

    def make(
        log: str | None,
        *events: Any,
        exit_code: int = 0,
        signal: int | None = None,
        patterns: Any = PATTERNS,
        count: int = 1,
    ) -> Run:
        register_application("tests", {"output_patterns": patterns}, application)
        jobs = [submit(1) for _ in range(count)]
        rounds.place_and_start_all(jobs[0].cluster)
        following.poll_runs()
        for run in Run.objects.filter(job__in=jobs):
            file = Path(run.run_dir, "output.log")
            file.unlink()
            if log is not None:
                file.write_bytes(log.encode())
            fake_grid.write(run.key, *events)
            fake_grid.end(run.key, exit_code, signal=signal)
        following.poll_runs()
        return Run.objects.select_related("job").get(job=jobs[0])

    return make


def test_output_that_means_success_verifies_the_run(ended: Callable[..., Run]) -> None:
    run = ended(GOOD)
    assert (run.state, run.job.state, run.verified, run.seconds) == ("succeeded", "succeeded", True, 1.5)
    assert run.result == {"energy": -12.5, "atoms": 4000}
    assert run.reason.code is Code.VERIFIED


def test_runs_that_end_together_are_checked_each(ended: Callable[..., Run]) -> None:
    run = ended(GOOD, count=3)
    states = Run.objects.values_list("state", "verified", "seconds")
    assert [*states] == [("succeeded", True, 1.5)] * 3
    assert run.result == {"energy": -12.5, "atoms": 4000}


@pytest.mark.parametrize("log", ["4000 atoms\nTime = 1500\n", "", None])
def test_a_run_that_ended_without_the_line_of_success_has_failed(ended: Callable[..., Run], log: str | None) -> None:
    run = ended(log)
    assert (run.state, run.job.state, run.verified, run.exit_code) == ("failed", "failed", False, 0)
    assert run.reason.code is Code.OUTPUT_LACKS_SUCCESS
    assert run.reason.facts["pattern"] == PATTERNS["success"]
    said = message(run.job.reason)
    assert said.startswith("The program ended, but no line of its output means success (pattern: ^ *Verification")
    assert said.endswith("Its log says: 4000 atoms / Time = 1500" if log else "Its log is empty.")
    assert "Its log says" not in brief(run.job.reason)


def test_a_line_that_means_failure_fails_the_run_and_is_quoted(ended: Callable[..., Run]) -> None:
    run = ended(f"ERROR: no convergence\nERROR: giving up\n{GOOD}")
    assert (run.state, run.verified, run.exit_code, run.seconds) == ("failed", False, 0, 1.5)
    assert run.reason.code is Code.OUTPUT_SAYS_FAILURE
    assert run.reason.facts == {"pattern": "ERROR|NaN", "line": "ERROR: no convergence"}
    assert "ERROR: no convergence" in message(run.job.reason)


def test_a_result_that_the_program_told_itself_goes_first(ended: Callable[..., Run]) -> None:
    run = ended(GOOD, RESULT)
    assert (run.state, run.verified, run.seconds) == ("succeeded", True, 2.5)
    assert run.result == {"energy": 1, "atoms": 4000, "zeta": 8.6}


def test_a_failure_of_either_fails_the_run(ended: Callable[..., Run]) -> None:
    run = ended(GOOD, {**RESULT, "verified": False})
    assert (run.state, run.verified, run.reason.code) == ("failed", False, Code.ENDED)
    run = ended("4000 atoms\n", RESULT)
    assert (run.state, run.verified, run.reason.code) == ("failed", False, Code.OUTPUT_LACKS_SUCCESS)


def test_of_a_program_that_failed_by_its_exit_code_nobody_expects_the_line_of_success(
    ended: Callable[..., Run],
) -> None:
    run = ended("4000 atoms\nTime = 1500\n", exit_code=3)
    assert (run.state, run.verified, run.seconds, run.result) == ("failed", None, 1.5, {"atoms": 4000})
    assert run.reason.code is Code.ENDED
    assert message(run.reason).startswith("The program ended with exit code 3.")


@pytest.mark.parametrize("told", [(), (RESULT,)])
def test_a_run_that_dies_after_its_success_is_failed_everywhere(
    ended: Callable[..., Run], client_as: Callable[..., Any], told: tuple[Any, ...]
) -> None:
    run = ended(GOOD, *told, exit_code=139, count=2)
    other = Job.objects.exclude(pk=run.job_id).get().pk
    assert (run.state, run.job.state, run.verified) == ("failed", "failed", True)
    client, where = client_as("operator"), f"/jobs/{run.job_id}/"
    for address in (
        where,
        f"{where}runs/1/",
        "/jobs/",
        f"/jobs/compare/?runs={run.job_id},{other}",
    ):
        page = markup(client.get(address))
        assert "verified<" not in page, address
        assert "its check passed before it failed" in page, address
    assert "Its check passed before it failed." in message(run.reason)
    answers = [client.get(f"/api/jobs/{run.job_id}").json(), client.get(f"/api/jobs/{run.job_id}/runs/1/").json()]
    answers += [client.get("/api/jobs").json()["results"][-1], answers[0]["runs"][0]]
    answers += client.get("/api/jobs/compare", {"runs": f"{run.job_id},{other}"}).json()["runs"]
    assert {(each["verified"], each["check_passed"]) for each in answers} == {(False, True)}


def test_a_rank_that_aborts_after_the_success_leaves_no_result(
    ended: Callable[..., Run], client_as: Callable[..., Any]
) -> None:
    called = "Abort(0) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 0) - process 1"
    run = ended(f"{GOOD}{called}\n")
    assert (run.job.state, run.reason.code, run.verified, run.is_verified) == ("failed", Code.ABORTED, True, False)
    assert "its check passed before it failed" in markup(client_as("user").get(f"/jobs/{run.job_id}/"))


def test_only_a_run_that_succeeded_is_verified(ended: Callable[..., Run], client_as: Callable[..., Any]) -> None:
    run = ended(GOOD)
    for state, verified in (("succeeded", True), ("running", None), ("cancelled", False)):
        Run.objects.update(state=state)
        Job.objects.update(state=state)
        found = client_as("user").get(f"/api/jobs/{run.job_id}").json()
        assert (found["verified"], found["check_passed"], found["runs"][0]["verified"]) == (verified, True, verified)


def test_the_line_of_failure_tells_more_than_the_exit_code(
    ended: Callable[..., Run], client_as: Callable[..., Any]
) -> None:
    run = ended("ERROR: no convergence\n" + "cleaning up\n" * 19, exit_code=3)
    assert (run.reason.code, run.exit_code) == (Code.OUTPUT_SAYS_FAILURE, 3)
    said = "A line of the program's output means failure: ERROR: no convergence (pattern: ERROR|NaN)"
    assert brief(run.job.reason) == said
    assert said in html.unescape(markup(client_as("user").get(f"/jobs/{run.job_id}/")))


def test_a_program_that_does_not_start_has_written_no_line_of_failure(ended: Callable[..., Run]) -> None:
    line = "[proxy:0@n4] HYDU_create_process (launch.c:73): execvp error on file /no/x (No such file or directory)"
    run = ended(f"{line}\n", exit_code=255, patterns={"failure": "error"})
    assert run.reason.code is Code.NO_PROGRAM


def test_a_line_of_failure_hides_no_lack_of_memory(ended: Callable[..., Run]) -> None:
    slurm = "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed."
    run = ended(f"ERROR: cannot allocate\n{slurm}\n", exit_code=137, signal=9)
    assert run.reason.facts["why"].code is Code.OUT_OF_MEMORY
    assert run.reason.facts["log"] == ["ERROR: cannot allocate"]


def test_a_pattern_for_failure_alone_verifies_nothing(ended: Callable[..., Run]) -> None:
    run = ended(GOOD, patterns={"failure": "ERROR"})
    assert (run.state, run.verified) == ("succeeded", None)
    assert ended("ERROR: a\n", patterns={"failure": "ERROR"}).state == "failed"


def test_an_application_without_patterns_is_judged_by_its_exit_code(ended: Callable[..., Run]) -> None:
    run = ended("ERROR: nothing of the sort\n", patterns={})
    assert (run.state, run.verified, run.result) == ("succeeded", None, {})


def test_a_call_of_mpi_abort_that_no_exit_code_tells_fails_the_run(ended: Callable[..., Run]) -> None:
    called = "Abort({0}) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, {0}) - process 1"
    run = ended(f"step 1\n{called.format(0)}\n", patterns={})
    assert (run.state, run.job.state, run.exit_code) == ("failed", "failed", 0)
    assert run.reason == Reason.of(Code.ABORTED, line=called.format(0))
    assert message(run.job.reason).endswith(f"although its exit code is 0. Its log says: {called.format(0)}")
    assert "Its log says" not in brief(run.job.reason)
    assert ended(f"{called.format(7)}\nthe script goes on\n", patterns={}).state == "succeeded"


def test_a_link_in_place_of_the_log_is_not_followed(
    ended: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(GOOD)
    write = Path.write_bytes

    def link(path: Path, data: bytes) -> int:
        if path.name == "output.log":
            path.symlink_to(tmp_path / "secret")
            return 0
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", link)
    run = ended(GOOD)
    assert (run.state, run.verified, run.result, run.reason.code) == ("failed", None, {}, Code.UNREADABLE)


def test_patterns_that_take_too_long_fail_the_run_by_name(
    ended: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: Any) -> None:
        raise OutputTooSlowError("(a|b)", 10.0)

    monkeypatch.setattr(output_check, "search_output", slow)
    run = ended(GOOD)
    assert (run.state, run.verified, run.reason.code) == ("failed", False, Code.OUTPUT_TOO_SLOW)
    assert "(a|b)" in message(run.reason)


def test_patterns_that_nobody_can_read_stop_nothing(
    ended: Callable[..., Run], application: Application, caplog: pytest.LogCaptureFixture
) -> None:
    ended(GOOD, patterns={})
    Application.objects.filter(pk=application.pk).update(output_patterns={"success": "("})
    row = Application.objects.get(pk=application.pk)
    assert not row.output_patterns
    assert "its output_patterns cannot be read" in caplog.text
    row.save()
    assert Application.objects.filter(pk=row.pk, output_patterns={"success": "("}).exists()
