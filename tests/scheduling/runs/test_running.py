"""Following a run: what its program reports, how it ends, and what its end is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base import run_directory, run_files
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.pages import selectors
from scheduling.placing.selectors import occupancy, rooms
from scheduling.placing.services import following, recovery, rounds, submission
from scheduling.runs import selectors as runs_selectors
from scheduling.runs.core import phase_sums
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport
from scheduling.runs.services import ordinary_run, phase_totals, reading_progress, starting
from tests.fake_grid import FakeGrid
from tests.scheduling.pages.explained import explained
from tests.scheduling.placing.stopped_worker import place_without_starting

Submit = Callable[..., Job]
PHASE = {"event": "phase", "phase": "conj_grad", "iteration": 1, "of": 15, "seconds": 0.5}
VERIFIED = {"event": "result", "verified": True, "seconds": 1.5, "figures": {"zeta": 8.6}}


@pytest.fixture
def running(submit: Submit, fake_grid: FakeGrid) -> Callable[..., Run]:
    """A run that its backend has, seen to be running."""

    def make(**fields: Any) -> Run:
        job = submit(fields.pop("nodes", 2), **fields)
        rounds.place_and_start_all(job.cluster)
        following.poll_runs()
        return Run.objects.get(job=job)

    return make


def polled(run: Run) -> Run:
    following.poll_runs()
    return Run.objects.select_related("job").get(pk=run.pk)


def test_a_run_that_the_backend_sees_running_is_running(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    assert (run.state, run.job.state, run.backend_id) == ("running", "running", run.key)
    assert run.started_at == run.job.started_at is not None
    assert Path(run.run_dir, "script.sh").read_text() == run.script


def test_all_runs_are_asked_for_in_one_question(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    running(nodes=1), running(nodes=1), running(nodes=1)
    fake_grid.asked.clear()
    following.poll_runs()
    assert fake_grid.asked == ["poll"]


def test_a_run_that_cannot_be_followed_does_not_hold_up_the_others(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    sick, well = running(nodes=1), running(nodes=1)
    real = run_directory.read_part

    def read_part(directory: Path, name: str, *part: Any) -> run_directory.Part:
        if str(directory) == sick.run_dir and name == run_files.PROGRESS:
            raise OSError("stale file handle")
        return real(directory, name, *part)

    monkeypatch.setattr(run_directory, "read_part", read_part)
    fake_grid.end(sick.key), fake_grid.end(well.key)
    assert polled(well).job.state == "succeeded"
    assert polled(sick).job.state == "running"
    Run.objects.filter(pk=sick.pk).update(unread_since=timezone.now() - timedelta(minutes=3))
    sick = polled(sick)
    assert (sick.job.state, sick.exit_code) == ("failed", 0)
    assert "stale file handle" in message(sick.job.reason)


def test_progress_is_taken_over_once_and_by_whole_lines(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    fake_grid.write(run.key, {"event": "start", "hosts": ["n3", "n7"]}, PHASE)
    fake_grid.write(run.key, '{"t": 1, "event": "phase", "phase": "conj', newline=False)
    run = polled(polled(run))
    assert (run.hosts, run.phases.count()) == (["n3", "n7"], 1)
    fake_grid.write(run.key, '_grad", "seconds": 0.25}', "garbage", PHASE)
    run = polled(polled(run))
    assert [phase.seconds for phase in run.phases.all()] == [0.5, 0.25, 0.5]


def test_two_workers_that_read_the_same_lines_write_them_once(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    one, two = Run.objects.get(pk=run.pk), Run.objects.get(pk=run.pk)
    fake_grid.write(run.key, PHASE, PHASE)
    reading_progress.ingest(one)
    reading_progress.ingest(two)
    assert run.phases.count() == 2


def test_a_program_that_reports_without_end_fills_no_table(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phase_sums, "MOST_REPORTS", 5)
    run = running()
    fake_grid.write(run.key, *[PHASE] * 4)
    run = polled(run)
    fake_grid.write(run.key, *[PHASE] * 4)
    assert polled(run).phases.count() == 4  # every second
    assert runs_selectors.phase_summary(run)[0]["count"] == 8


def test_a_line_without_end_is_stepped_over(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    run = running()
    fake_grid.write(run.key, "x" * 50_000, PHASE)
    run = polled(run)
    assert run.phases.count() == 1


def test_of_a_line_without_end_so_much_is_looked_through_at_a_time(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_SOUGHT", 3)
    monkeypatch.setattr(reading_progress, "_MOST_CHUNKS", 1)
    run = running()
    fake_grid.write(run.key, "x" * 8500, PHASE)
    run = polled(run)
    assert run.progress_offset == 4000
    run = polled(run)
    assert run.progress_offset == 8000
    assert polled(run).phases.count() == 1


def test_a_result_after_a_line_without_end_is_seen_when_the_run_is_over(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_LEFT", 50_000)
    run = running()
    fake_grid.write(run.key, PHASE, "x" * 100_000, VERIFIED)
    fake_grid.end(run.key)
    run = polled(run)
    assert (run.job.state, run.verified, run.seconds, run.phases.count()) == ("succeeded", True, 1.5, 1)


def test_a_run_that_is_over_ends_when_all_its_reports_are_read(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_CHUNKS", 4)
    run = running()
    fake_grid.write(run.key, *[PHASE] * 100, VERIFIED)
    fake_grid.end(run.key)
    run = polled(run)
    assert (run.job.state, run.verified) == ("running", None)
    assert 3000 < run.progress_offset <= 4000
    for _ in range(3):
        run = polled(run)
    assert (run.job.state, run.verified) == ("succeeded", True)
    assert [(each["count"], each["seconds"]) for each in runs_selectors.phase_summary(run)] == [(100, 50.0)]


def test_a_run_that_is_over_waits_so_long_for_its_reports_and_says_what_was_left_out(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch, client_as: Any
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_CHUNKS", 1)
    run = running()
    fake_grid.write(run.key, *[PHASE] * 1000, VERIFIED)
    fake_grid.end(run.key)
    run = polled(polled(run))
    assert (run.job.state, str(run.failure)) == ("running", "progress.jsonl is still being read.")
    Run.objects.filter(pk=run.pk).update(unread_since=timezone.now() - reading_progress._LONGEST)
    run = polled(run)
    assert (run.job.state, run.verified) == ("succeeded", True)
    (row,) = runs_selectors.phase_summary(run)
    assert 30 < row["count"] < 70
    assert row["seconds"] == 0.5 * row["count"]
    words = "progress.jsonl was not read whole: 0.1 MB of it before its last lines are in no sum."
    assert str(run.failure) == words
    assert words in client_as("user").get(f"/jobs/{run.job_id}/").content.decode()


@pytest.mark.parametrize(("exit_code", "state"), [(0, "succeeded"), (3, "failed")])
def test_a_run_without_a_result_of_which_something_was_left_out_ends_by_its_exit_code(
    running: Callable[..., Run],
    fake_grid: FakeGrid,
    monkeypatch: pytest.MonkeyPatch,
    client_as: Any,
    exit_code: int,
    state: str,
) -> None:
    monkeypatch.setattr(reading_progress, "_CHUNK", 1000)
    monkeypatch.setattr(reading_progress, "_MOST_LEFT", 5000)
    monkeypatch.setattr(reading_progress, "_MOST_CHUNKS", 1)
    run = running()
    fake_grid.write(run.key, *[PHASE] * 1000)
    fake_grid.end(run.key, exit_code)
    assert polled(run).job.state == state
    assert "was not read whole" in client_as("user").get(f"/jobs/{run.job_id}/").content.decode()


@pytest.mark.parametrize("depth", [64, 200, 930, 970, 100_000])
def test_figures_that_are_nested_too_deep_fail_the_run_alone(
    running: Callable[..., Run], fake_grid: FakeGrid, depth: int, client_as: Any
) -> None:
    sick, well = running(nodes=1), running(nodes=1)
    fake_grid.write(
        sick.key, f'{{"event": "result", "verified": true, "figures": {{"a": {"[" * depth + "]" * depth}}}}}'
    )
    assert polled(sick).job.state == "running"
    fake_grid.end(sick.key), fake_grid.end(well.key)
    assert polled(well).job.state == "succeeded"
    sick = polled(sick)
    assert (sick.job.state, sick.exit_code, sick.result) == ("failed", 0, {})
    assert message(sick.job.reason).endswith("progress.jsonl has a line that is nested more than 64 levels deep.")
    for page in (f"/jobs/{sick.job_id}/", f"/api/jobs/{sick.job_id}", "/jobs/"):
        assert client_as("user").get(page).status_code == 200


def test_the_backends_word_tells_the_exit_and_not_the_programs(
    running: Callable[..., Run], fake_grid: FakeGrid
) -> None:
    run = running()
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0}', encoding="utf-8")
    assert polled(run).job.state == "running"
    fake_grid.end(run.key, 9, record=False)
    run = polled(run)
    assert (run.job.state, run.exit_code) == ("failed", 9)


@pytest.mark.parametrize("text", ["[" * 4000, '{"exit_code": 1e400}', '{"exit_code": -1}', "directory"])
def test_an_exit_record_that_cannot_be_read_ends_the_run_with_its_name(
    running: Callable[..., Run], fake_grid: FakeGrid, text: str
) -> None:
    run = running()
    record = Path(run.run_dir, "exit.json")
    record.mkdir() if text == "directory" else record.write_text(text)
    fake_grid.end(run.key, record=False)
    run = polled(run)
    assert run.job.state == "failed"
    assert "its record of the end cannot be read: exit.json " in message(run.job.reason)


def test_a_log_that_is_a_directory_leaves_pages_and_descriptors_alone(
    running: Callable[..., Run], fake_grid: FakeGrid, client_as: Any
) -> None:
    run = running()
    log = Path(run.run_dir, "output.log")
    log.unlink()
    log.mkdir()
    client = client_as("user")
    pages = [
        f"/jobs/{run.job_id}/",
        f"/jobs/{run.job_id}/log",
        f"/jobs/{run.job_id}/log/tail",
        f"/api/jobs/{run.job_id}",
    ]
    [client.get(page) for page in pages]
    before = len(os.listdir("/proc/self/fd"))
    for page in pages:
        assert client.get(page).status_code == (404 if page.endswith("/log") else 200), page
    fake_grid.end(run.key, 3)
    reason = message(polled(run).job.reason)
    assert "exit code 3. output.log is a directory, not a plain file." in reason
    for page in pages:
        assert client.get(page).status_code == (404 if page.endswith("/log") else 200), page
    assert len(os.listdir("/proc/self/fd")) == before


def test_absurd_figures_of_earlier_versions_leave_the_pages_alone(people: Any, make_job: Any, client_as: Any) -> None:
    from django.db import connection

    job = make_job(people["user"], "succeeded")
    run = job.runs.get()
    Run.objects.filter(pk=run.pk).update(seconds=1.7e308)
    deep = '{"a": ' + "[" * 940 + "]" * 940 + "}"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE scheduling_run SET result = %s WHERE id = %s", [deep, run.pk])
    client = client_as("administrator")
    of_job = (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/live", f"/api/jobs/{job.pk}")
    for page in (*of_job, "/jobs/", "/api/jobs", "/reports/skeletons/"):
        assert client.get(page).status_code == 200, page


def test_a_verified_run_succeeds(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    fake_grid.write(run.key, PHASE, VERIFIED)
    fake_grid.end(run.key)
    run = polled(run)
    assert (run.job.state, run.state, run.exit_code) == ("succeeded", "succeeded", 0)
    assert (run.verified, run.seconds, run.result) == (True, 1.5, {"zeta": 8.6})
    assert run.ended_at is not None
    assert run.job.ended_at == run.ended_at  # as its backend says, not when the portal heard of it
    assert rooms.holders() == {}


def test_a_program_without_a_check_succeeds_by_its_exit_code(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    fake_grid.end(run.key)
    assert (polled(run).job.state, run.verified) == ("succeeded", None)


def test_a_run_whose_own_check_failed_has_failed(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    fake_grid.write(run.key, VERIFIED | {"verified": False})
    fake_grid.end(run.key)
    run = polled(run)
    assert run.job.state == "failed"
    assert "its own verification failed" in message(run.job.reason)


def test_a_failed_run_says_its_exit_code_and_its_last_words(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    Path(run.run_dir, "output.log").write_text("one\nMemoryError: no room\n\n", encoding="utf-8")
    fake_grid.end(run.key, 1)
    assert message(polled(run).job.reason) == (
        "The program ended with exit code 1. Its log says: one / MemoryError: no room"
    )


def test_a_time_limit_is_named_as_the_reason(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running(time_limit=5)
    fake_grid.end(run.key, 143, reason="The time limit of 5 s was reached")
    assert message(polled(run).job.reason).startswith("The time limit of 5 s was reached.")


def test_a_run_killed_without_an_exit_record_ends_as_its_backend_says(
    running: Callable[..., Run], fake_grid: FakeGrid
) -> None:
    run = running()
    fake_grid.end(run.key, record=False)
    fake_grid.runs[run.key] |= {"exit_code": None, "signal": 9}
    run = polled(run)
    assert (run.job.state, run.exit_code) == ("failed", 137)


def test_a_cancelled_run_is_stopped_and_then_cancelled(
    running: Callable[..., Run], fake_grid: FakeGrid, people: Any
) -> None:
    run = running()
    submission.cancel_job(people["user"], run.job)
    following.cancel_run(run.job_id)
    run = polled(run)
    assert (run.job.state, run.state) == ("cancelled", "cancelled")
    assert message(run.job.reason) == "Cancelled by user while it was running."
    assert fake_grid.runs[run.key]["exit_code"] == 143


def test_a_cancel_that_did_not_reach_the_backend_is_repeated(
    running: Callable[..., Run], fake_grid: FakeGrid, people: Any
) -> None:
    run = running()
    submission.cancel_job(people["user"], run.job)
    fake_grid.down = True
    following.cancel_run(run.job_id)
    fake_grid.down = False
    assert polled(polled(run)).job.state == "cancelled"


def test_a_job_cancelled_before_its_run_was_handed_over_never_runs(
    submit: Submit, fake_grid: FakeGrid, people: Any
) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    submission.cancel_job(people["user"], job)
    starting.start_runs([job.pk])
    following.poll_runs()
    job.refresh_from_db()
    assert (job.state, fake_grid.submitted) == ("cancelled", [])


def test_a_worker_that_submits_after_its_lease_takes_a_cancelled_run_back(
    submit: Submit, fake_grid: FakeGrid, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    slow = fake_grid.submit

    def late(*args: Any, **options: Any) -> str:
        submission.cancel_job(people["user"], Job.objects.get(pk=job.pk))
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        following.poll_runs()
        return slow(*args, **options)

    monkeypatch.setattr(fake_grid, "submit", late)
    starting.start_runs([job.pk])
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert fake_grid.runs[job.runs.get().key]["state"] == "finished"


def test_a_grid_that_is_silent_leaves_jobs_running_and_says_so(
    running: Callable[..., Run], fake_grid: FakeGrid
) -> None:
    run = running()
    fake_grid.down = True
    run = polled(run)
    assert run.job.state == "running"
    assert "does not answer" in explained(run.job)
    fake_grid.down = False
    assert message(polled(run).job.reason) == ""


def test_a_run_that_a_restarted_grid_forgot_fails_after_a_grace_period(
    running: Callable[..., Run], fake_grid: FakeGrid
) -> None:
    run = running()
    fake_grid.restart()
    assert polled(run).job.state == "running"
    Run.objects.update(state_since=timezone.now() - timedelta(seconds=20))
    run = polled(run)
    assert (run.job.state, message(run.job.reason)) == (
        "failed",
        "The Grid was restarted while the job ran on it; resubmit the job.",
    )


def test_a_run_that_a_grid_forgot_is_not_judged_by_what_its_program_wrote(
    running: Callable[..., Run], fake_grid: FakeGrid
) -> None:
    run = running()
    fake_grid.write(run.key, VERIFIED)
    fake_grid.end(run.key)
    fake_grid.restart()
    assert polled(run).job.state == "running"
    Run.objects.update(state_since=timezone.now() - timedelta(seconds=20))
    assert polled(run).job.state == "failed"


def test_what_a_backend_refuses_fails_with_its_sentence(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.refuse = "There is no node n1."
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "There is no node n1." in message(job.reason)


def test_a_backend_that_dies_before_the_submission_is_waited_for(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    fake_grid.down = True
    starting.start_runs([job.pk])
    job.refresh_from_db()
    assert job.state == "starting"
    assert "does not answer" in message(job.reason)
    fake_grid.down = False
    assert recovery.advance_jobs() == 1
    assert fake_grid.submitted == [job.runs.get().key]


def test_the_log_is_read_in_parts_that_never_cut_a_letter(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    text = "grün Ω 𝄞 end\n" * 20
    Path(run.run_dir, "output.log").write_text(text, encoding="utf-8")
    read, offset = "", 0
    for _ in range(1000):
        part = runs_selectors.log_tail(run, offset=offset, limit=5)
        assert part.offset == offset
        read, offset = read + part.text, part.end
        if not part.text:
            break
    assert read == text
    tail = runs_selectors.log_tail(run, limit=40)
    assert text.endswith(tail.text)
    assert tail.text.startswith("grün")


def test_a_log_that_leads_out_of_the_run_directory_is_not_followed(
    running: Callable[..., Run], fake_grid: FakeGrid, tmp_path: Path
) -> None:
    run = running()
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    log = Path(run.run_dir, "output.log")
    log.unlink()
    log.symlink_to(secret)
    assert runs_selectors.log_tail(run).text == ""
    log.unlink()
    os.mkfifo(log)
    assert runs_selectors.log_tail(run).text == ""
    run.run_dir = str(tmp_path)
    (tmp_path / "output.log").write_text("elsewhere", encoding="utf-8")
    assert runs_selectors.log_tail(run).text == ""


def test_the_story_tells_everything_of_a_job(running: Callable[..., Run], fake_grid: FakeGrid) -> None:
    run = running()
    fake_grid.write(run.key, PHASE | {"phase": "makea"}, PHASE, PHASE | {"compute": 0.1, "communicate": 0.4}, VERIFIED)
    fake_grid.end(run.key)
    run = polled(run)
    story = selectors.job_story(run.job)
    assert [event.to_state for event in story["events"]] == [
        "queued",
        "placing",
        "starting",
        "running",
        "succeeded",
    ]
    assert [(p["phase"], p["count"], p["seconds"]) for p in story["phases"]] == [("makea", 1, 0.5), ("conj_grad", 2, 1)]
    assert sum(p["share"] for p in story["phases"]) == pytest.approx(1)
    assert story["log"].text == "hello\n"
    assert story["log"].complete
    assert occupancy.peak(story["placement"]) == 100e6
    assert story["placement"].nodes == run.placement.nodes


def test_a_list_of_jobs_shows_nodes_and_seconds_without_a_query_per_row(
    people: Any, make_job: Any, django_assert_num_queries: Any
) -> None:
    for state in ("succeeded", "running", "queued", "failed"):
        make_job(people["user"], state)
    make_job(people["other"], "running")
    with django_assert_num_queries(1):
        jobs = list(selectors.jobs_visible_to(people["administrator"]))
        shown = {job.state: (job.chosen_nodes, job.run_seconds, job.owner.username) for job in jobs}
    assert shown["succeeded"] == (["n1", "n2"], 1.5, "user")
    assert shown["queued"] == (None, None, "user")
    assert {job.owner_id for job in selectors.jobs_visible_to(people["other"])} == {people["other"].pk}
    assert selectors.jobs_visible_to(people["manager"]).count() == 5


def test_phases_of_a_failed_write_are_not_lost(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = running()
    fake_grid.write(run.key, PHASE)

    def broken(*_: Any) -> None:
        raise RuntimeError("killed while writing")

    with monkeypatch.context() as patch:
        patch.setattr(phase_totals, "add_phases", broken)
        following.poll_runs()
    assert Run.objects.get().failure is not None
    following.poll_runs()
    assert PhaseReport.objects.count() == 1
    assert Run.objects.get().failure is None


def test_a_running_job_tells_on_its_page_that_its_progress_cannot_be_read(
    running: Callable[..., Run], fake_grid: FakeGrid, client_as: Any
) -> None:
    run = running()
    os.mkfifo(Path(run.run_dir, "progress.jsonl"))
    polled(run)
    said = "progress.jsonl is a pipe, socket or device, not a plain file."
    assert said in client_as("user").get(f"/jobs/{run.job_id}/").content.decode()
    Path(run.run_dir, "progress.jsonl").unlink()
    assert polled(run).failure is None
    assert said not in client_as("user").get(f"/jobs/{run.job_id}/").content.decode()


def test_names_of_phases_without_end_and_hosts_without_number_are_bounded(
    running: Callable[..., Run], fake_grid: FakeGrid, client_as: Any
) -> None:
    run = running(nodes=2)
    fake_grid.write(run.key, {"event": "start", "hosts": ["x" * 200] * 3000})
    fake_grid.write(run.key, *[PHASE | {"phase": f"phase {number}"} for number in range(1000)])
    run = polled(run)
    assert len(run.hosts) == 2
    assert len(runs_selectors.phase_summary(run)) == phase_sums.MOST_NAMES + 1
    assert client_as("user").get(f"/jobs/{run.job_id}/").status_code == 200


def test_an_error_whose_words_no_database_takes_ends_the_run_all_the_same(
    running: Callable[..., Run], fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ingest(*_: Any, **__: Any) -> None:
        raise LookupError("a\0b" * 1000)

    monkeypatch.setattr(ordinary_run, "ingest", ingest)
    run = running()
    assert polled(run).job.state == "running"
    fake_grid.end(run.key)
    run = polled(run)
    assert (run.job.state, run.exit_code) == ("failed", 0)
    assert "LookupError: a b" in message(run.job.reason)
    assert "\0" not in message(run.job.reason)
