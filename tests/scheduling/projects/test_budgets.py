"""Budgets of projects: given by managers with a reason, counted as jobs run, told of, refusing where they say so."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError, InputError
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.messages import message
from scheduling.notices.models import Notice
from scheduling.projects import budget_services
from scheduling.projects.budget_selectors import budget_state
from scheduling.projects.models import Budget
from scheduling.runs.models import Run
from scheduling.usage.services.counting_use import count_use


@pytest.fixture
def ocean(people: Any) -> Project:
    made = Project.objects.create(name="ocean")
    made.members.add(people["user"])
    return made


def today() -> date:
    return timezone.now().date()


def values(**changes: Any) -> dict[str, Any]:
    days = {"begins": today() - timedelta(days=40), "ends": today() + timedelta(days=40)}
    return {"node_hours": 10.0, **days, "warn_at": 80, "when_used": "refuse"} | changes


@pytest.fixture
def budget(people: Any, ocean: Project) -> Budget:
    return budget_services.make_budget(people["manager"], ocean, values(), "the grant")


@pytest.fixture
def ran(make_job: Any, people: Any, ocean: Project) -> Any:
    """ran(hours): a job of the project that ended a day ago after so many hours on two nodes."""

    def make(hours: float, state: str = "succeeded") -> Job:
        job, now = make_job(people["user"], state), timezone.now()
        ended = now - timedelta(days=1) if state == "succeeded" else None
        began = (ended or now) - timedelta(hours=hours)
        Run.objects.filter(job=job).update(started_at=began, ended_at=ended)
        Job.objects.filter(pk=job.pk).update(project=ocean, created_at=began, started_at=began, ended_at=ended)
        return job

    return make


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def form(**changes: Any) -> dict[str, Any]:
    return (
        {name: str(value) for name, value in values(**changes).items()}
        | {"reason": "grant 7", "version": "1"}
        | changes
    )


def test_a_manager_gives_a_budget_with_a_reason(client_as: Any, ocean: Project) -> None:
    answer = client_as("manager").post("/projects/ocean/budgets/new", form(node_hours=100))
    assert answer["Location"] == "/projects/ocean/#budgets"
    row = Budget.objects.get()
    assert (row.node_hours, row.when_used, row.version) == (100.0, "refuse", 1)
    event = AuditEvent.objects.get(action="budget.make")
    assert (event.detail["reason"], event.detail["node_hours"]) == ("grant 7", 100.0)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("node_hours", "-1", "Enter a number above 0"),
        ("ends", "2020-01-01", "Enter a day from"),
        ("ends", "9999-12-31", "Enter a day from"),
        ("begins", "0001-01-01", "Enter a day from"),
        ("reason", "x", "Enter a text of 3 to 500 characters."),
        ("warn_at", "0", "1"),
        ("begins", "", "required"),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    client_as: Any, ocean: Project, field: str, value: str, sentence: str
) -> None:
    answer = client_as("manager").post("/projects/ocean/budgets/new", form(**{field: value}))
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not Budget.objects.exists()


def test_a_project_has_one_budget_at_a_time(people: Any, ocean: Project, budget: Budget) -> None:
    with pytest.raises(InputError, match="no other budget"):
        budget_services.make_budget(people["manager"], ocean, values(begins=today()), "another")
    later = values(begins=budget.ends + timedelta(days=1), ends=budget.ends + timedelta(days=9))
    assert budget_services.make_budget(people["manager"], ocean, later, "the next").pk


def test_of_two_who_change_a_budget_the_second_sees_a_conflict(client_as: Any, people: Any, budget: Budget) -> None:
    budget_services.change_budget(people["manager"], budget.pk, {"node_hours": 50.0}, "more", 1)
    with pytest.raises(ConflictError):
        budget_services.change_budget(people["administrator"], budget.pk, {"node_hours": 5.0}, "less", 1)
    answer = client_as("administrator").post(f"/projects/ocean/budgets/{budget.pk}/edit", form(node_hours=5))
    assert answer.status_code == 409
    assert "Somebody else changed “Node-hours” after you opened this form." in words(answer)
    assert "Node-hours is now: 50.0" in words(answer)
    assert 'name="version" value="2"' in words(answer)
    assert Budget.objects.get().node_hours == 50.0
    body = {"node_hours": 5, "version": 1, "reason": "less"}
    answer = client_as("manager").patch(f"/api/budgets/{budget.pk}", body, content_type="application/json")
    assert answer.status_code == 409, answer.json()


def test_ended_and_running_jobs_are_used_and_waiting_ones_told(
    people: Any, make_job: Any, ocean: Project, budget: Budget, ran: Any
) -> None:
    ran(2)  # 4 node-hours
    ran(1, "running")  # 2 until now
    Job.objects.filter(state="running").update(time_limit=7200)
    waiting = make_job(people["user"], "waiting", node_count=3, time_limit=3600)
    endless = make_job(people["user"], "queued")
    Job.objects.filter(pk__in=[waiting.pk, endless.pk]).update(project=ocean)
    for count in (lambda: None, count_use):
        count()
        state = budget_state(budget)
        assert state.used == pytest.approx(6.0, abs=0.01)
        assert state.may_take == pytest.approx(2 + 3, abs=0.01)
        assert (state.open_jobs, state.unlimited, state.level) == (3, 1, "plenty")


def test_what_a_budget_costs_does_not_grow_with_the_past(
    budget: Budget, ran: Any, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    ran(1)
    count_use()
    with CaptureQueriesContext(connection) as few:
        budget_state(budget)
    for _ in range(4):
        ran(1)
    count_use()
    with django_assert_num_queries(len(few)):
        budget_state(budget)


def test_a_used_budget_refuses_new_jobs_where_it_says_so(
    client_as: Any, people: Any, ocean: Project, budget: Budget, ran: Any, application: Any
) -> None:
    body = {"application": "ep", "node_count": 2, "project": "ocean"}
    post = lambda: client_as("user").post("/api/jobs", body, content_type="application/json")  # noqa: E731
    assert post().status_code == 201
    ran(6)
    answer = post()
    assert answer.status_code == 400
    assert "another project, or none: ocean has used all 10 node-hours of its budget" in answer.json()["project"][0]
    page = client_as("user").post(
        "/submit/",
        {
            "application": "ep",
            "cluster": "grid",
            "node_count": "2",
            "method": "pattern",
            "candidates": "3",
            "seed": "0",
            "request_key": str(uuid4()),
            "project": str(ocean.pk),
            "param-klass": "S",
            "param-seed": "1",
        },
    )
    assert page.status_code == 422
    assert "&#x27;ocean&#x27; is not possible. Enter another project, or none: ocean has used all 10" in words(page)
    assert (
        client_as("user").post("/api/jobs", body | {"project": None}, content_type="application/json").status_code
        == 201
    )
    budget_services.change_budget(people["manager"], budget.pk, {"when_used": "warn"}, "go on", 1)
    assert post().status_code == 201


def test_people_are_told_once_of_little_and_once_of_nothing(people: Any, budget: Budget, ran: Any) -> None:
    assert budget_services.warn_of_budgets() == 0
    ran(4.2)
    told = budget_services.warn_of_budgets()
    assert {notice.person.username for notice in Notice.objects.all()} == {"user", "manager", "administrator"}
    assert told == 3
    assert budget_services.warn_of_budgets() == 0
    assert "8.40 of its 10.00 node-hours; 1.60 are left" in message(Notice.objects.all()[0].reason)
    ran(1)
    assert budget_services.warn_of_budgets() == 3
    assert "New jobs are refused until" in message(Notice.objects.all()[0].reason)
    assert budget_services.warn_of_budgets() == 0


def test_the_page_of_a_project_and_the_report_say_what_is_left(client_as: Any, budget: Budget, ran: Any) -> None:
    ran(4.2)
    page = words(client_as("user").get("/projects/ocean/"))
    assert "8.40 of 10.00 node-hours until" in page
    assert "1.60 are left" in page
    assert "budgets/new" not in page
    assert "budgets/new" in words(client_as("manager").get("/projects/ocean/"))
    page = words(client_as("manager").get("/reports/budgets/"))
    assert "1 budget: 0 used up, 1 nearly used up." in page
    day = budget.begins.isoformat()
    first_day = client_as("manager").get(f"/reports/budgets/?start={day}T00:00&until={day}T12:00")
    assert "1 budget: " in words(first_day)
    assert f'href="/reports/people/?start={day}T00%3A00&amp;until={day}T12%3A00"' in first_day.content.decode()
    whole = client_as("manager").get(f"/reports/budgets/?start={day}").content.decode()
    assert f'value="{day}T00:00"' in whole  # what a browser's field takes
    assert "ocean" not in words(client_as("other").get("/reports/budgets/"))
    (found,) = client_as("user").get("/api/budgets").json()["results"]
    assert (found["project"], round(found["state"]["left"], 2), found["state"]["level"]) == ("ocean", 1.6, "low")
    assert client_as("other").get("/api/budgets").json()["results"] == []


def test_the_preview_of_a_job_says_what_it_may_take(client_as: Any, budget: Budget, ran: Any, application: Any) -> None:
    ran(4.2)
    filled = {
        "application": "ep",
        "cluster": "grid",
        "node_count": "2",
        "method": "pattern",
        "candidates": "3",
        "seed": "0",
    }
    filled |= {"project": str(budget.project.pk), "param-klass": "S", "param-seed": "1"}
    filled |= {"time_limit": "7200", "request_key": str(uuid4())}
    page = words(client_as("user").post("/submit/preview", filled))
    assert "This job may take 4.00 node-hours, more than the 1.60 that are left." in page
