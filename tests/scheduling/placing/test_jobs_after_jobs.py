"""Jobs that start after others: held back outside the line, let go when these are over, ended when that cannot be."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from gridportal.base.errors import InputError
from gridportal.base.reasons import Code
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages import messages
from scheduling.placing.selectors.occupancy import explanation, older
from scheduling.placing.services import following, preview, recovery, submission
from scheduling.placing.services.sweep_submission import submit_sweep
from tests.fake_grid import FakeGrid
from tests.scheduling.runs.fake_queue import FakeQueue

Submit = Callable[..., Job]
VERIFIED = {"event": "result", "verified": True, "seconds": 1.5, "figures": {}}


def end(grid: FakeGrid, job: Job, exit_code: int = 0) -> None:
    """Its program ends, and the portal sees it."""
    run = job.runs.get()
    if exit_code == 0:
        grid.write(run.backend_id, VERIFIED)
    grid.end(run.backend_id, exit_code)
    following.poll_runs()
    recovery.advance_jobs()


def states(*jobs: Job) -> list[str]:
    for job in jobs:
        job.refresh_from_db()
    return [job.state for job in jobs]


def test_it_waits_outside_the_line_and_is_placed_when_the_other_has_ended(submit: Submit, fake_grid: FakeGrid) -> None:
    first = submit(1)
    second = submit(1, after_ok=(first.pk,))
    third = submit(1)
    assert states(first, second, third) == ["queued", "waiting", "queued"]
    recovery.advance_jobs()
    assert states(first, second, third) == ["starting", "waiting", "starting"]
    assert [(e.from_state, e.to_state, e.reason.code) for e in second.events.all()] == [
        ("", "queued", Code.NONE),
        ("queued", "waiting", Code.AFTER_JOBS),
    ]
    assert older(submit(1)) == 0, "nobody stands behind a job that waits for another one"
    end(fake_grid, first)
    assert states(first, second) == ["succeeded", "starting"]
    assert second.events.filter(from_state="waiting", to_state="queued").get().reason.code is Code.AFTER_JOBS_OVER


def test_it_says_for_which_job_it_waits_and_in_which_state_that_is_now(submit: Submit, fake_grid: FakeGrid) -> None:
    first, other = submit(1), submit(1)
    second = submit(1, after=(first.pk,), after_ok=(other.pk,))
    told = f"Waiting for job {first.pk} (queued) and job {other.pk} (queued) to succeed."
    assert messages(explanation(second)) == told
    recovery.advance_jobs()
    second.refresh_from_db()
    assert messages(explanation(second)) == told.replace("queued", "starting")
    assert second.reason.facts["waits_for"][0] == {"job": first.pk, "state": "starting", "has_to_succeed": False}


@pytest.mark.parametrize(("asked", "state"), [("after", "starting"), ("after_ok", "cancelled")])
def test_only_success_counts_where_it_is_asked_for(submit: Submit, fake_grid: FakeGrid, asked: str, state: str) -> None:
    first = submit(1)
    second = submit(1, **{asked: (first.pk,)})
    recovery.advance_jobs()
    end(fake_grid, first, exit_code=1)
    assert states(first, second) == ["failed", state]


def test_what_can_never_be_met_ends_the_whole_chain_with_one_reason_each(
    submit: Submit, people: dict[str, Any], fake_grid: FakeGrid
) -> None:
    first = submit(1)
    second = submit(1, after_ok=(first.pk,))
    third = submit(1, after_ok=(second.pk,))
    last = submit(1, after=(third.pk,))
    submission.cancel_job(people["user"], first)
    recovery.advance_jobs()
    assert states(second, third, last) == ["cancelled", "cancelled", "starting"]
    assert second.reason.document() == {"code": "after_never", "facts": {"job": first.pk, "state": "cancelled"}}
    assert third.reason.facts["job"] == second.pk
    assert messages([second.reason]) == (
        f"It was to start only if job {first.pk} succeeded, and job {first.pk} was cancelled. "
        "Resubmit it to start it anyway."
    )
    assert second.events.filter(to_state="cancelled").count() == 1


def test_a_job_that_waits_for_another_can_be_cancelled_and_stays_so(
    submit: Submit, people: dict[str, Any], fake_grid: FakeGrid
) -> None:
    first = submit(1)
    second = submit(1, after=(first.pk,))
    submission.cancel_job(people["user"], second)
    submission.cancel_job(people["user"], first)
    recovery.advance_jobs()
    assert states(second) == ["cancelled"]
    assert not second.held_back
    assert second.reason.code is Code.CANCELLED_EARLY


def test_what_is_over_already_holds_nothing_back(submit: Submit, people: dict[str, Any], fake_grid: FakeGrid) -> None:
    first = submit(1)
    submission.cancel_job(people["user"], first)
    second = submit(1, after=(first.pk,))
    assert (second.state, second.held_back) == ("queued", False)
    assert JobDependency.objects.get(job=second).on_id == first.pk
    with pytest.raises(InputError, match="after_ok") as refused:
        submit(1, after_ok=(first.pk,))
    assert refused.value.value == f"{first.pk}, cancelled"


def test_jobs_that_a_person_may_not_see_are_as_unknown_as_those_that_are_not(submit: Submit) -> None:
    theirs = submit(1, owner="other")
    sentences = []
    for number in (theirs.pk, 999):
        with pytest.raises(InputError) as refused:
            submit(1, after=(number,))
        sentences.append(str(refused.value).replace(str(number), "N"))
    assert sentences[0] == sentences[1]
    assert submit(1, owner="operator", after=(theirs.pk,)).after == (theirs.pk,)


@pytest.mark.parametrize("numbers", [(0,), (10**20,), tuple(range(1, 30))])
def test_numbers_that_no_job_can_have_are_refused(submit: Submit, numbers: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="at most 20"):
        submit(1, after=numbers)


def test_the_database_takes_no_circle(submit: Submit) -> None:
    first = submit(1)
    second = submit(1, after=(first.pk,))
    for job, on in ((first, second), (first, first)):
        with pytest.raises(IntegrityError), transaction.atomic():
            JobDependency.objects.create(job=job, on=on)


def test_a_second_submission_asks_for_the_same_order(submit: Submit, people: dict[str, Any]) -> None:
    first = submit(1)
    second = submit(1, after=(first.pk,))
    second.refresh_from_db()
    again = submission.submit_job(people["user"], JobSpec.from_row(second), resubmitted_from=second)
    assert (again.after, again.held_back) == ((first.pk,), True)


def test_every_job_of_a_sweep_starts_after_what_it_names(
    submit: Submit, people: dict[str, Any], application: Any, fake_grid: FakeGrid
) -> None:
    first = submit(1)
    asked = JobSpec(application=application, node_count=1, pattern="ring", after_ok=(first.pk,))
    group, _ = submit_sweep(people["user"], asked, {"klass": ("S", "W")})
    assert [(job.state, job.held_back) for job in group.jobs.all()] == [("waiting", True)] * 2
    recovery.advance_jobs()
    end(fake_grid, first)
    assert {job.state for job in group.jobs.all()} == {"starting"}


def test_on_a_cluster_with_a_queue_it_is_submitted_only_then(
    submit: Submit, people: dict[str, Any], fake_queue: FakeQueue
) -> None:
    first = submit(1, cluster="hpc")
    second = submit(1, cluster="hpc", after=(first.pk,))
    recovery.advance_jobs()
    assert (first.runs.count(), second.runs.count()) == (1, 0)
    submission.cancel_job(people["user"], first)
    following.cancel_run(first.pk)
    following.poll_runs()
    recovery.advance_jobs()
    assert states(first) == ["cancelled"]
    assert second.runs.count() == 1


def test_the_preview_says_what_it_would_wait_for(
    submit: Submit, people: dict[str, Any], application: Any, fake_grid: FakeGrid
) -> None:
    first = submit(1)
    asked = JobSpec(application=application, node_count=1, pattern="ring", after=(first.pk,), request_key=uuid.uuid4())
    assert messages([preview.preview(asked, people["user"]).after]) == f"Waiting for job {first.pk} (queued)."
    with pytest.raises(InputError, match="after"):
        preview.preview(asked, people["other"])
