"""Who is told of what: with the step itself, each once, as each has chosen."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from scheduling import tasks
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Announcement, Job
from scheduling.jobs.services.advance import advance
from scheduling.notices import notice_messages, selectors
from scheduling.notices.models import Delivery, Notice
from scheduling.notices.services import choices, writing_notices
from scheduling.placing.services.submission import cancel_job
from scheduling.rescheduling.services import weighing_jobs
from tests.scheduling.checkpoints import stoppable_jobs as stoppable
from tests.scheduling.rescheduling.proposals import propose


def told(person: Any) -> list[str]:
    """What a person was told, in order."""
    return [notice_messages.title(each) for each in Notice.objects.filter(person=person).order_by("pk")]


@pytest.fixture
def job(make_job: Any, people: Any) -> Job:
    made: Job = make_job(people["user"], "running")
    return made


def test_a_job_that_ends_and_one_that_fails_are_told_to_their_owner_alone(make_job: Any, people: Any) -> None:
    ended, failed = make_job(people["user"], "running"), make_job(people["user"], "running")
    advance(ended, JobState.SUCCEEDED)
    advance(failed, JobState.FAILED)
    assert writing_notices.write_notices() == 2
    assert told(people["user"]) == [f"Job {ended.pk} has succeeded", f"Job {failed.pk} has failed"]
    assert not Notice.objects.exclude(person=people["user"]).exists()


def test_the_announcement_is_written_with_the_step_or_not_at_all(job: Job) -> None:
    with transaction.atomic():
        assert advance(job, JobState.SUCCEEDED)
        transaction.set_rollback(True)
    assert not Announcement.objects.exists()
    job.refresh_from_db()
    advance(job, JobState.SUCCEEDED)
    assert Announcement.objects.count() == 1


def test_each_is_told_once_however_often_and_by_whom_it_is_looked_at(job: Job, people: Any) -> None:
    advance(job, JobState.FAILED)
    (pk,) = Announcement.objects.values_list("pk", flat=True)
    assert [writing_notices._write(pk), writing_notices._write(pk), writing_notices.write_notices()] == [1, 0, 0]


def test_a_worker_killed_before_the_end_has_told_nobody(job: Job, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    advance(job, JobState.FAILED)
    choices.choose_for_job(people["operator"], job, "all")
    real, calls = writing_notices.tell, []

    def killed(*args: Any, **options: Any) -> int:
        calls.append(real(*args, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writing_notices, "tell", killed)
        with pytest.raises(KeyboardInterrupt):
            writing_notices.write_notices()
    assert calls == [1]
    assert not Notice.objects.exists()
    assert writing_notices.write_notices() == 2


def test_a_start_is_told_to_who_wants_it_and_once_in_a_life(
    submit: Any, fake_grid: Any, application: Any, people: Any
) -> None:
    choices.change_settings(people["user"], {"page": ["started", "ended"]})
    stoppable.stoppable(application)
    job = stoppable.running(submit)
    stoppable.obey(job, fake_grid)
    stoppable.look(job)
    tasks.send_notices()
    from scheduling.checkpoints.services.requesting import stop_and_continue

    stop_and_continue(job, by=people["user"])
    stoppable.look(job)
    stoppable.restored(job, fake_grid)
    stoppable.end_well(job, fake_grid)
    stoppable.look(job)
    tasks.send_notices()
    assert job.state == "succeeded"
    assert told(people["user"]) == [f"Job {job.pk} has started", f"Job {job.pk} has succeeded"]


def test_jobs_that_end_together_are_told_too(submit: Any, fake_grid: Any, people: Any) -> None:
    jobs = [stoppable.running(submit, nodes=1) for _ in range(3)]
    for job in jobs:
        stoppable.end_well(job, fake_grid)
    tasks.poll_runs()
    tasks.send_notices()
    assert sorted(told(people["user"])) == sorted(f"Job {job.pk} has succeeded" for job in jobs)


def test_who_cancels_a_job_is_not_told_so_and_its_owner_is_when_another_did(make_job: Any, people: Any) -> None:
    mine, other = make_job(people["user"], "queued"), make_job(people["user"], "queued")
    cancel_job(people["user"], mine)
    cancel_job(people["operator"], other)
    writing_notices.write_notices()
    assert told(people["user"]) == [f"Job {other.pk} was cancelled"]


def test_a_job_that_stopped_waits_for_a_decision(submit: Any, fake_grid: Any, application: Any, people: Any) -> None:
    stoppable.stoppable(application)
    job = stoppable.running(submit)
    stoppable.obey(job, fake_grid)
    stoppable.look(job)
    tasks.send_notices()
    (notice,) = Notice.objects.all()
    assert notice_messages.title(notice) == f"Job {job.pk} waits for a decision"
    assert notice_messages.text(notice) == "It stopped with checkpoint 1; let it go on from there, or cancel it."


@pytest.mark.parametrize(("choice", "count"), [("usual", 1), ("all", 2), ("none", 0)])
def test_of_one_job_a_person_hears_what_was_chosen_for_it(job: Job, people: Any, choice: str, count: int) -> None:
    choices.change_settings(people["user"], {"webhook_url": "https://hooks.example/x"})
    choices.choose_for_job(people["user"], job, choice)
    advance(job, JobState.FAILED)
    writing_notices.write_notices()
    assert Notice.objects.count() + Delivery.objects.count() == count


def test_who_may_not_see_a_job_any_more_hears_nothing_of_it(job: Job, people: Any) -> None:
    choices.choose_for_job(people["operator"], job, "all")
    choices.choose_for_job(people["other"], job, "all")
    people["operator"].groups.clear()
    advance(job, JobState.SUCCEEDED)
    writing_notices.write_notices()
    assert set(Notice.objects.values_list("person__username", flat=True)) == {"user"}


def test_a_proposal_is_told_to_who_may_decide(job: Job, people: Any) -> None:
    decision = propose(job)
    decision.pk = None
    type(decision).objects.all().delete()
    weighing_jobs.keep(decision)
    names = set(Notice.objects.values_list("person__username", flat=True))
    assert names == {"operator", "administrator"}
    notice = Notice.objects.first()
    assert notice is not None
    assert notice_messages.address(notice) == decision.get_absolute_url()
    assert notice_messages.title(notice) == f"A move of Job {job.pk} waits for an operator"


def test_a_flood_stays_on_the_page(job: Job, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "MOST_AN_HOUR", 2)
    choices.change_settings(people["user"], {"webhook_url": "https://hooks.example/x", "webhook": ["failed"]})
    for _ in range(3):
        writing_notices.tell(people["user"], writing_notices.NoticeKind.FAILED, job=job)
    assert (Notice.objects.count(), Delivery.objects.count()) == (3, 2)


def test_old_notices_and_those_beyond_a_thousand_go(job: Job, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        writing_notices.tell(people["user"], writing_notices.NoticeKind.FAILED, job=job)
    monkeypatch.setattr(writing_notices, "_MOST_KEPT", 3)
    assert writing_notices.forget_old() == 1
    monkeypatch.setattr(writing_notices, "_KEPT", writing_notices.timedelta(0))
    assert writing_notices.forget_old() == 3
