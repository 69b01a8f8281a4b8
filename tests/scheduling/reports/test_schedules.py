"""Reports at set times: by a real SMTP server to whom a manager chose, each with what that person may see, once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent, User
from scheduling.jobs.models import Job
from scheduling.notices.models import Delivery, Notice
from scheduling.notices.services import delivering
from scheduling.reports import report_letters, schedule_services
from scheduling.reports.models import ReportSchedule
from scheduling.runs.models import Run
from tests.scheduling.notices.receivers import Mailbox, mail_server

FORM = {"name": "For the board", "every": "week", "tabs": ["people", "network"], "people": "manager, user"}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Mailbox]]:
    with mail_server() as (address, mailbox):
        yield address, mailbox


@pytest.fixture
def mailbox(settings: Any, server: Any) -> Mailbox:
    changes = {"mail_url": server[0], "mail_from": "portal@grid.example", "public_url": "https://portal.example"}
    settings.PORTAL = settings.PORTAL.model_copy(update=changes)
    server[1].letters = []
    found: Mailbox = server[1]
    return found


@pytest.fixture
def schedule(people: Any) -> ReportSchedule:
    for name in ("manager", "user"):
        User.objects.filter(username=name).update(email=f"{name}@grid.example")
    values = {**FORM, "people": ["manager", "user"]}
    return schedule_services.save_schedule(people["manager"], None, **values)


def is_due() -> None:
    ReportSchedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_manager_has_a_report_sent(client_as: Any) -> None:
    answer = client_as("manager").post("/reports/by-mail/new", FORM)
    assert answer["Location"] == "/reports/by-mail/"
    row = ReportSchedule.objects.get()
    assert (row.owner.username, row.people_names, row.tabs) == ("manager", ["manager", "user"], ["people", "network"])
    assert row.next_at > timezone.now()
    assert AuditEvent.objects.filter(action="report.make_schedule").count() == 1
    client_as("manager").post(f"/reports/by-mail/{row.pk}/edit", FORM | {"people": "user", "every": "month"})
    row.refresh_from_db()
    assert (row.every, row.next_at.day, row.people_names) == ("month", 1, ["user"])


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("people", "nobody-of-this-name", "Enter names of people who have an account that is on."),
        ("tabs", "nonsense", "Enter one of People and time, "),
        ("every", "day", "day"),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(client_as: Any, field: str, value: str, sentence: str) -> None:
    answer = client_as("manager").post("/reports/by-mail/new", FORM | {field: value})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not ReportSchedule.objects.exists()


def test_each_gets_what_that_person_may_see_as_sentences_and_pdf(
    schedule: ReportSchedule, mailbox: Mailbox, make_job: Any, people: Any
) -> None:
    job, end = make_job(people["other"], "succeeded"), timezone.now() - timedelta(days=7)
    Run.objects.filter(job=job).update(started_at=end - timedelta(hours=2), ended_at=end)
    Job.objects.filter(pk=job.pk).update(created_at=end - timedelta(hours=3), ended_at=end)
    is_due()
    assert schedule_services.send_due_reports() == 2
    assert schedule_services.send_due_reports() == 0  # the next one is due in days
    assert delivering.send_due(report_letters.letter) == 2
    assert delivering.send_due(report_letters.letter) == 0
    letters = {str(letter["X-To"]): letter for letter in mailbox.letters}
    assert set(letters) == {"manager@grid.example", "user@grid.example"}
    texts = {to: letter.get_body(("plain",)).get_content() for to, letter in letters.items()}  # type: ignore[union-attr]
    assert "1 person used all node-hours: " in texts["manager@grid.example"]
    assert "Utilization of links" in texts["manager@grid.example"]
    assert "Utilization of links" not in texts["user@grid.example"]
    assert "https://portal.example/reports/by-mail/" in texts["user@grid.example"]
    (file,) = letters["manager@grid.example"].iter_attachments()
    assert file.get_content_type() == "application/pdf"
    assert file.get_content().startswith(b"%PDF-")


def test_who_stops_it_gets_it_no_more(client_as: Any, schedule: ReportSchedule, mailbox: Mailbox) -> None:
    page = words(client_as("user").get("/reports/by-mail/"))
    assert "For the board" in page
    assert "Change" not in page
    assert client_as("other").post(f"/reports/by-mail/{schedule.pk}/stop").status_code == 404
    assert client_as("user").post(f"/reports/by-mail/{schedule.pk}/stop").status_code == 302
    assert (
        "For the board"
        not in words(client_as("user").get("/reports/by-mail/")).partition("<main")[2].partition("is not sent")[2]
    )
    is_due()
    schedule_services.send_due_reports()
    assert {notice.person.username for notice in Notice.objects.all()} == {"manager"}


def test_a_removed_report_is_sent_to_nobody(client_as: Any, schedule: ReportSchedule) -> None:
    client_as("administrator").post(f"/reports/by-mail/{schedule.pk}/remove")
    assert schedule_services.send_due_reports() == 0
    assert not Delivery.objects.exists()


def test_reports_over_rest(client_as: Any, schedule: ReportSchedule) -> None:
    (found,) = client_as("user").get("/api/report-schedules").json()["results"]
    assert (found["name"], found["people"]) == ("For the board", ["manager", "user"])
    assert client_as("other").get("/api/report-schedules").json()["results"] == []
    body = {"people": ["other"]}
    path = f"/api/report-schedules/{schedule.pk}"
    assert client_as("manager").patch(path, body, content_type="application/json").json()["people"] == ["other"]
    assert client_as("manager").delete(path).status_code == 204
