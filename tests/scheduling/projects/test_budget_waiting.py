"""Jobs of a project without node-hours wait where its budget lets them, say why, and go on once they may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.messages import message
from scheduling.notices.models import Notice
from scheduling.placing.services.recovery import advance_jobs
from scheduling.projects import budget_services
from scheduling.projects.budget_waiting import settle_budgets
from scheduling.projects.models import Budget
from scheduling.runs.models import Run
from tests.scheduling.projects.test_budgets import ocean, ran, values, words

__all__ = ["ocean", "ran"]


@pytest.fixture
def budget(people: Any, ocean: Project, ran: Any) -> Budget:
    """Of ten node-hours, of which twelve are used."""
    made = budget_services.make_budget(people["manager"], ocean, values(when_used="wait"), "the grant")
    ran(6)
    return made


def raised(people: Any, budget: Budget, **changes: Any) -> None:
    version = Budget.objects.get(pk=budget.pk).version
    budget_services.change_budget(people["manager"], budget.pk, changes, "more", version)


def test_a_job_waits_for_node_hours_and_goes_on_when_the_budget_is_raised(
    fake_grid: Any, submit: Any, people: Any, ocean: Project, budget: Budget
) -> None:
    job = submit(project=ocean)
    assert (job.state, job.held_back, job.reason.code) == ("waiting", True, Code.BUDGET_WAITS)
    assert "project ocean has used all 10 node-hours of its budget" in message(job.reason)
    advance_jobs()
    job.refresh_from_db()
    assert job.state == "waiting"
    raised(people, budget, node_hours=11.0)  # not enough
    advance_jobs()
    job.refresh_from_db()
    assert (job.state, job.reason.facts["allocated"]) == ("waiting", 11.0)
    raised(people, budget, node_hours=50.0)
    advance_jobs()
    job.refresh_from_db()
    assert job.state in ("starting", "running")
    assert not job.held_back
    assert job.held_until is not None
    steps = list(job.events.values_list("to_state", flat=True))
    assert steps[:3] == ["queued", "waiting", "queued"]


def test_it_goes_on_when_the_time_is_over_or_jobs_may_go_on(
    submit: Any, people: Any, ocean: Project, budget: Budget
) -> None:
    first = submit(project=ocean)
    raised(people, budget, when_used="refuse")
    assert settle_budgets() == 0, "it was accepted, and there is still nothing left"
    raised(people, budget, when_used="warn")
    assert settle_budgets() == 1
    raised(people, budget, when_used="wait")
    assert settle_budgets() == 1, "nobody has looked at it yet, so it waits again"
    first.refresh_from_db()
    assert first.state == "waiting"
    today = timezone.now().date()
    Budget.objects.update(begins=today - timedelta(days=9), ends=today - timedelta(days=1))
    assert settle_budgets() == 1
    first.refresh_from_db()
    assert (first.state, first.reason.code) == ("queued", Code.BUDGET_GOES_ON)


def test_what_waited_for_another_job_then_waits_for_node_hours(
    submit: Any, people: Any, make_job: Any, ocean: Project, budget: Budget
) -> None:
    other = make_job(people["user"], "running")
    job = submit(project=ocean, after=(other.pk,))
    assert job.reason.code is Code.AFTER_JOBS
    Job.objects.filter(pk=other.pk).update(state="succeeded", ended_at=timezone.now())
    Run.objects.filter(job=other).update(state="succeeded", ended_at=timezone.now())
    advance_jobs()
    job.refresh_from_db()
    assert (job.state, job.held_back, job.reason.code) == ("waiting", True, Code.BUDGET_WAITS)
    advance_jobs()
    job.refresh_from_db()
    assert job.reason.code is Code.BUDGET_WAITS


def test_what_is_submitted_again_is_new_and_waits(
    client_as: Any, make_job: Any, people: Any, ocean: Project, budget: Budget
) -> None:
    old = make_job(people["user"], "failed")
    Job.objects.filter(pk=old.pk).update(project=ocean)
    again = client_as("user").post(f"/api/jobs/{old.pk}/resubmit", content_type="application/json").json()
    assert (again["state"], Job.objects.get(pk=again["id"]).reason.code) == ("waiting", Code.BUDGET_WAITS)
    page = words(client_as("manager").get(f"/projects/ocean/budgets/{budget.pk}/edit"))
    assert "A job that is submitted again, or with random nodes, is new." in page


@pytest.mark.parametrize("state", ["running", "starting", "moving", "stopped", "queued"])
def test_a_job_that_was_accepted_goes_on_also_when_it_moves(
    make_job: Any, people: Any, ocean: Project, budget: Budget, state: str
) -> None:
    """Queued again: its run was taken out of the queue of its cluster, to start elsewhere."""
    job = make_job(people["user"], "running")
    Job.objects.filter(pk=job.pk).update(project=ocean, state=state)
    assert settle_budgets() == 0
    job.refresh_from_db()
    assert (job.state, job.held_back) == (state, False)


def test_others_do_not_wait(fake_grid: Any, submit: Any, ocean: Project, budget: Budget) -> None:
    assert submit().state == "queued"
    assert submit(owner="other").state == "queued"


def test_without_anybody_who_waits_it_asks_two_questions(budget: Budget, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(2):
        assert settle_budgets() == 0


def test_job_list_report_and_notice_say_what_it_waits_for(
    client_as: Any, submit: Any, ocean: Project, budget: Budget
) -> None:
    job = submit(project=ocean)
    client = client_as("user")
    assert "Waiting for node-hours: project ocean has used all 10" in words(client.get(f"/jobs/{job.pk}/"))
    assert "for node-hours" in words(client.get("/jobs/"))
    assert "Waiting for node-hours" in client.get(f"/api/jobs/{job.pk}").json()["reason"]
    page = words(client_as("manager").get("/reports/budgets/"))
    assert "Jobs waiting" in page
    rows = client_as("manager").get("/reports/budgets/budgets.csv").getvalue().decode().splitlines()
    (row,) = [row for row in rows if row.startswith("ocean")]
    assert ",1,used up,New jobs wait" in row
    assert "New jobs wait until the budget is raised" in words(client.get("/projects/ocean/"))
    budget_services.warn_of_budgets()
    assert "New jobs wait until its budget is raised" in message(Notice.objects.all()[0].reason)
