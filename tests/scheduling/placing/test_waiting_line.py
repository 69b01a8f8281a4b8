"""The line: nobody holds up those behind, nobody is passed over for ever, and what is told of it is true."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.utils import timezone

from gridportal.base.errors import BackendError, InputError
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.placing.services import choosing, placing, recovery, rounds, snapshot
from scheduling.placing.services.waiting_line import Waiting
from scheduling.runs.models import Run
from scheduling.runs.services import starting, submissions
from tests.fake_grid import FakeGrid
from tests.scheduling.ended import let_end
from tests.scheduling.placing.stopped_worker import place_without_starting
from tests.scheduling.runs.fake_queue import FakeQueue

Submit = Callable[..., Job]
FAST = {"min_bandwidth": 95e6}  # more than is measured on the fake Grid


def place(job: Job) -> Job:
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    return job


def states(*jobs: Job) -> list[str]:
    for job in jobs:
        job.refresh_from_db()
    return [job.state for job in jobs]


def test_many_that_wait_for_bandwidth_hold_up_nobody_behind_them(submit: Submit, fake_grid: FakeGrid) -> None:
    stuck = [submit(2, requirements=FAST, seed=seed) for seed in range(70)]
    last = submit(2)
    recovery.advance_jobs()
    assert set(states(*stuck)) == {"waiting"}
    assert states(last) == ["starting"]


def test_what_was_refused_is_asked_again_only_when_its_figures_change(submit: Submit, fake_grid: FakeGrid) -> None:
    place(submit(1))
    job = place(submit(2, requirements=FAST))
    with patch.object(choosing, "select", side_effect=AssertionError("asked again")):
        recovery.advance_jobs()
    assert states(job) == ["waiting"]
    fake_grid.rates = {(a, b): 99e6 for a in fake_grid.names for b in fake_grid.names}
    from monitoring.telemetry.services import sweeps

    sweeps.measure()
    recovery.advance_jobs()
    assert states(job) == ["starting"]


def test_loads_that_do_not_matter_to_a_job_are_no_reason_to_ask_again(submit: Submit, fake_grid: FakeGrid) -> None:
    job = place(submit(2, requirements=FAST))
    fake_grid.cpus = dict.fromkeys(fake_grid.names, 0.5)
    with patch.object(choosing, "select", side_effect=AssertionError("asked again")):
        recovery.advance_jobs()
    assert states(job) == ["waiting"]


def test_nodes_that_become_free_are_a_reason_to_ask_again(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.rates = {(a, b): 20e6 for a in fake_grid.names for b in fake_grid.names if "n1" not in (a, b)}
    first = place(submit(1, method="compute"))
    Run.objects.get().placement.__class__.objects.update(nodes=["n1"])
    requirements = {"min_bandwidth": 80e6}
    second = place(submit(2, requirements=requirements))
    assert f"this job is tried again when job {first.pk} ends" in message(second.reason)
    let_end([first])
    recovery.advance_jobs()
    assert states(second) == ["starting"]


def test_equal_jobs_are_selected_for_once(submit: Submit, fake_queue: FakeQueue) -> None:
    fake_queue.busy(*fake_queue.slurm_nodes)
    jobs = [submit(2) for _ in range(30)]
    with patch.object(choosing, "select", wraps=choosing.select) as select:
        rounds.place_and_start_all(jobs[0].cluster)
    assert set(states(*jobs)) == {"starting"}
    assert select.call_count == 1


def test_a_batch_asks_the_database_a_bounded_number_of_questions(
    submit: Submit, fake_queue: FakeQueue, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    for module, limit in ((placing, "_STORED_EVERY"), (snapshot, "_KEPT"), (starting, "_WRITTEN_EVERY")):
        monkeypatch.setattr(module, limit, 3600.0)  # a slow machine stores and looks more often
    rounds.place_and_start_all(submit(1).cluster)
    jobs = [submit(2) for _ in range(60)]
    with django_assert_max_num_queries(60):
        rounds.place_and_start_all(jobs[0].cluster)
    assert set(states(*jobs)) == {"starting"}
    assert len(fake_queue.specs) == 61


def busy_with(submit: Submit, *limits: int | None) -> list[Job]:
    """One running job on a node for each time limit."""
    jobs = [place(submit(1, time_limit=limit)) for limit in limits]
    now = timezone.now()
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(state="running", started_at=now)
    return jobs


def test_short_jobs_fill_the_gap_before_a_wide_one_and_long_ones_wait(submit: Submit, fake_grid: FakeGrid) -> None:
    busy_with(submit, 3600, 3600)
    wide = place(submit(4))
    long, endless, short = place(submit(1, time_limit=7200)), place(submit(1)), place(submit(1, time_limit=60))
    assert states(wide, long, endless, short) == ["waiting", "waiting", "waiting", "starting"]
    assert f"Job {wide.pk} came first and gets 4 nodes by " in message(long.reason)


def test_a_job_that_leaves_the_wide_one_enough_nodes_may_take_its_time(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.names.append("n5")
    busy_with(submit, 3600, 3600)
    wide = place(submit(4))
    endless, second = place(submit(1)), place(submit(1))
    assert states(wide, endless, second) == ["waiting", "starting", "waiting"]


def test_where_nobody_has_a_limit_a_wide_job_is_overtaken_for_a_while_only(
    submit: Submit, fake_grid: FakeGrid, settings: Any
) -> None:
    busy_with(submit, None, None)
    wide, early = place(submit(4)), place(submit(1))
    Job.objects.filter(pk=wide.pk).update(
        created_at=timezone.now() - timedelta(seconds=settings.PORTAL.overtaking_seconds + 1)
    )
    late = place(submit(1))
    assert states(wide, early, late) == ["waiting", "starting", "waiting"]
    assert "has waited long" in message(late.reason)
    let_end(Job.objects.filter(state__in=["running", "starting"]))
    recovery.advance_jobs()
    assert states(wide, late) == ["starting", "waiting"]


def test_a_wide_job_starts_although_narrow_ones_keep_coming(submit: Submit, fake_grid: FakeGrid) -> None:
    first = busy_with(submit, 600)[0]
    wide = place(submit(4))
    for _ in range(10):
        place(submit(1, time_limit=900))
    let_end([first])
    recovery.advance_jobs()
    assert states(wide) == ["starting"]


def test_a_wide_job_that_waits_for_bandwidth_keeps_no_nodes(submit: Submit, fake_grid: FakeGrid) -> None:
    wide = place(submit(4, requirements=FAST))
    busy_with(submit, 3600)
    assert states(wide, place(submit(1))) == ["waiting", "starting"]


def test_a_job_that_kills_workers_takes_no_others_with_it(submit: Submit, fake_grid: FakeGrid) -> None:
    class Killed(BaseException):
        pass

    good, bad, other = submit(1, seed=1), submit(1, seed=666), submit(1, seed=2)
    select = choosing.select

    def deadly(topology: Any, asked: Any, **more: Any) -> Any:
        if asked.seed == 666:
            raise Killed
        return select(topology, asked, **more)

    with patch.object(choosing, "select", deadly):
        for _ in range(9):
            try:
                recovery.advance_jobs()
            except Killed:
                Job.objects.exclude(lease_until=None).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert states(good, bad, other) == ["starting", "failed", "starting"]
    assert "lost 3 times" in message(bad.reason)


@pytest.mark.parametrize("words", ["sbatch gave no answer within 20 s.", "sbatch failed: Slurm's controller is busy."])
def test_a_silent_slurm_is_asked_again_as_often_as_it_takes(submit: Submit, fake_queue: FakeQueue, words: str) -> None:
    jobs = [submit(1), submit(1)]
    place_without_starting(jobs[0].cluster)
    fake_queue.error = BackendError(words)
    for _ in range(8):
        recovery.advance_jobs()
    assert states(*jobs) == ["starting", "starting"]
    assert words in message(jobs[0].reason)
    fake_queue.error = None
    assert recovery.advance_jobs() == 2
    assert states(*jobs) == ["starting", "starting"]
    assert all("chosen by pattern" in message(job.reason) for job in jobs)
    assert len(fake_queue.specs) == 2


def test_of_a_batch_only_the_refused_job_fails(
    submit: Submit, fake_queue: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gridportal.base.errors import RefusedError

    jobs = [submit(1) for _ in range(5)]
    real = fake_queue.submit

    def refuse_one(spec: Any) -> str:
        if spec.key.startswith(f"job-{jobs[2].pk}-"):
            raise RefusedError("sbatch refused with exit code 1: Invalid account.")
        if spec.key.startswith(f"job-{jobs[3].pk}-"):
            raise BackendError("sbatch gave no answer within 20 s.")
        return real(spec)

    monkeypatch.setattr(fake_queue, "submit", refuse_one)
    rounds.place_and_start_all(jobs[0].cluster)
    assert states(*jobs) == ["starting", "starting", "failed", "starting", "starting"]
    assert "Invalid account" in message(jobs[2].reason)
    assert "no answer within 20 s" in message(jobs[3].reason)
    monkeypatch.setattr(fake_queue, "submit", real)
    assert recovery.advance_jobs() == 1
    assert len(fake_queue.specs) == 4


def test_an_owner_who_is_nobody_there_fails_alone(submit: Submit, fake_queue: FakeQueue) -> None:
    jobs = [submit(1) for _ in range(3)]

    def nobody(directory: Any, cluster: Any, user: str) -> None:
        if f"job-{jobs[1].pk}-" in str(directory):
            raise InputError("user name", user, "an account")

    with patch.object(submissions, "share", nobody):
        rounds.place_and_start_all(jobs[0].cluster)
    assert states(*jobs) == ["starting", "failed", "starting"]


def test_lists_tell_the_reason_of_this_moment(
    submit: Submit, fake_grid: FakeGrid, people: Any, client: Any, django_assert_max_num_queries: Any
) -> None:
    first, second = place(submit(2)), place(submit(1))
    waiting = [place(submit(4)) for _ in range(3)]
    let_end([second])  # nobody has looked at the line since
    client.force_login(people["user"])
    held = f"Job {first.pk} holds the others; this job is tried again when job {first.pk} ends."
    now = f"Needs 4 free nodes; 2 of 4 are free. {held}"
    with django_assert_max_num_queries(20):
        rows = client.get("/api/jobs?state=waiting").json()["results"]
    assert [row["reason"] for row in rows] == [now] * 3
    exported = b"".join(client.get("/jobs.csv?state=waiting").streaming_content).decode()
    assert exported.count(now) == 3
    let_end([first])
    row = client.get(f"/api/jobs/{waiting[0].pk}").json()
    assert row["reason"] == "Enough nodes are free now; it is tried again within seconds."
    assert row["explanation"] == row["reason"]


def test_a_full_cluster_is_looked_at_alike_however_many_wait(
    submit: Submit, fake_grid: FakeGrid, django_assert_max_num_queries: Any
) -> None:
    place(submit(4))
    waiting = place(submit(2))
    Job.objects.bulk_create(_copies(waiting, 700))
    with patch.object(Waiting, "__init__", autospec=True, side_effect=Waiting.__init__) as read:
        with django_assert_max_num_queries(30):
            recovery.advance_jobs()
        assert read.call_count == 0
        place(submit(2))
        assert read.call_count == 1


def test_a_new_job_is_stop_sent_at_once_why_it_waits_behind_thousands(submit: Submit, fake_grid: FakeGrid) -> None:
    place(submit(4))
    Job.objects.bulk_create(_copies(place(submit(2)), 700))
    new = submit(2)
    tasks.place_jobs(new.cluster)
    assert states(new) == ["waiting"]
    assert message(new.reason).startswith("Needs 2 free nodes; 0 of 4 are free.")


def test_the_oldest_of_many_that_fit_are_placed_first(submit: Submit, fake_grid: FakeGrid) -> None:
    first = place(submit(4))
    oldest = place(submit(2))
    Job.objects.bulk_create(_copies(oldest, 700))
    let_end([first])
    recovery.advance_jobs()
    started = Job.objects.filter(state="starting").order_by("pk").values_list("pk", flat=True)
    assert list(started) == [oldest.pk, oldest.pk + 1]


def _copies(job: Job, count: int) -> list[Job]:
    values = {field.attname: getattr(job, field.attname) for field in Job._meta.concrete_fields}
    return [Job(**values | {"id": None, "request_key": uuid4()}) for _ in range(count)]
