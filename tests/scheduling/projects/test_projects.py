"""Projects: made by administrators, seen by their members and by who oversees; jobs belong to them."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.runs.models import Run


@pytest.fixture
def ocean(people: Any) -> Project:
    made = Project.objects.create(name="ocean", description="Waves.")
    made.members.add(people["user"])
    return made


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_an_administrator_makes_and_changes_a_project(client_as: Any, people: Any) -> None:
    client = client_as("administrator")
    answer = client.post("/projects/new", {"name": "ocean", "description": "Waves.", "members": "user, other"})
    assert answer["Location"] == "/projects/ocean/"
    client.post("/projects/ocean/edit", {"name": "sea", "description": "", "members": "other"})
    row = Project.objects.get()
    assert (row.name, [person.username for person in row.members.all()]) == ("sea", ["other"])
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert [each for each in actions if each.startswith("project.")] == ["project.make", "project.change"]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("members", "nobody-of-this-name", "Enter names of people who have an account."),
        ("name", "ocean", "Enter a name that no other project has."),
        ("name", "two words", "Enter letters, digits, - and _ of at most 60 characters."),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    client_as: Any, ocean: Project, field: str, value: str, sentence: str
) -> None:
    form = {"name": "lake", "description": "", "members": ""} | {field: value}
    answer = client_as("administrator").post("/projects/new", form)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert list(Project.objects.values_list("name", flat=True)) == ["ocean"]


def test_members_see_their_project_and_their_own_jobs_alone(
    client_as: Any, ocean: Project, make_job: Any, people: Any
) -> None:
    ocean.members.add(people["other"])
    mine, theirs = make_job(people["user"], "succeeded"), make_job(people["other"], "succeeded")
    Job.objects.filter(pk__in=[mine.pk, theirs.pk]).update(project=ocean)
    page = words(client_as("user").get("/projects/ocean/"))
    assert f'href="/jobs/{mine.pk}/"' in page
    assert f'href="/jobs/{theirs.pk}/"' not in page
    assert f'href="/jobs/{theirs.pk}/"' in words(client_as("manager").get("/projects/ocean/"))
    Project.objects.create(name="secret")
    assert client_as("user").get("/projects/secret/").status_code == 404
    assert "secret" not in words(client_as("user").get("/projects/"))
    assert [row["name"] for row in client_as("user").get("/api/projects").json()["results"]] == ["ocean"]


@pytest.mark.parametrize(
    ("sent", "expected"), [({}, "ocean"), ({"project": None}, None), ({"project": "ocean"}, "ocean")]
)
def test_a_new_job_belongs_to_the_one_project_of_its_owner(
    client_as: Any, ocean: Project, application: Any, sent: dict[str, Any], expected: str | None
) -> None:
    body = {"application": "ep", "node_count": 2} | sent
    answer = client_as("user").post("/api/jobs", body, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    job = Job.objects.get()
    assert (job.project.name if job.project else None) == expected


def test_nobody_submits_to_a_project_of_others(client_as: Any, ocean: Project, application: Any) -> None:
    body = {"application": "ep", "node_count": 2, "project": "ocean"}
    answer = client_as("other").post("/api/jobs", body, content_type="application/json")
    assert answer.status_code == 400
    assert "project" in answer.content.decode()
    assert not Job.objects.exists()


def test_who_submits_a_job_of_others_again_does_not_enter_their_project(
    client_as: Any, ocean: Project, make_job: Any, people: Any
) -> None:
    old = make_job(people["user"], "succeeded")
    Job.objects.filter(pk=old.pk).update(project=ocean)
    answer = client_as("operator").post(f"/api/jobs/{old.pk}/resubmit", {}, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    assert Job.objects.get(resubmitted_from=old).project is None


def test_the_form_offers_projects_to_members_alone(client_as: Any, ocean: Project, application: Any) -> None:
    page = words(client_as("user").get("/submit/"))
    assert f'<option value="{ocean.pk}" selected>ocean</option>' in page
    assert 'name="project"' not in words(client_as("other").get("/submit/"))


def test_the_report_adds_up_node_hours_by_project(client_as: Any, ocean: Project, make_job: Any, people: Any) -> None:
    now = timezone.now()
    for each in (make_job(people["user"], "succeeded"), make_job(people["other"], "succeeded")):
        Run.objects.filter(job=each).update(started_at=now - timedelta(hours=1), ended_at=now)
    Job.objects.filter(owner=people["user"]).update(project=ocean)
    answer = client_as("manager").get("/reports/people/projects.csv")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    found = [row[:4] for row in rows]
    assert ["ocean", "1", "2.0", "50.0"] in found
    assert ["none", "1", "2.0", "50.0"] in found
    assert "2.00" in words(client_as("user").get("/projects/"))


def test_the_list_counts_a_time_from_and_to(client_as: Any, ocean: Project, make_job: Any, people: Any) -> None:
    job, end = make_job(people["user"], "succeeded"), timezone.now() - timedelta(days=40)
    Run.objects.filter(job=job).update(started_at=end - timedelta(hours=1), ended_at=end)
    Job.objects.filter(pk=job.pk).update(project=ocean, created_at=end - timedelta(hours=2), ended_at=end)
    client = client_as("user")
    assert '<td class="num">2.00</td>' not in words(client.get("/projects/"))
    span = f"?start={end - timedelta(days=3):%Y-%m-%dT%H:%M}&until={end + timedelta(days=3):%Y-%m-%dT%H:%M}"
    page = words(client.get(f"/projects/{span}"))
    assert '<td class="num">2.00</td>' in page
    assert f"Jobs and node-hours: {end - timedelta(days=3):%Y-%m-%d} to" in page
    assert 'aria-current="true"' not in page
    wrong = words(client.get("/projects/?start=soon"))
    assert "Jobs and node-hours: last 30 d" in wrong
    assert 'aria-invalid="true"' in wrong
