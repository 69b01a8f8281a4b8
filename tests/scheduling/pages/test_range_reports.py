"""Reports over a range of time: node-hours by user, group, site and day, slowdown, moves; as page, CSV and PDF."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from scheduling.contracts.models import Contract
from scheduling.runs.models import Run
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words


@pytest.fixture
def ran(make_job: Any, people: Any) -> Any:
    """A job of two hours on two nodes, of somebody in the group astro, with a contract and a verified move."""
    people["user"].groups.add(Group.objects.create(name="astro"))
    job, now = make_job(people["user"], "succeeded"), timezone.now()
    Run.objects.filter(job=job).update(started_at=now - timedelta(hours=2), ended_at=now)
    monitor = {"actual": 7200.0, "predicted": 3600.0}
    Contract.objects.create(run=job.runs.get(), promised={"model": "m", "phases": []}, monitor=monitor)
    propose(job, state="verified", by="operator", outcome={"gain": 0.3, "saved": 1800.0, "took": 4000.0})
    return job


def table(client: Any, show: str) -> list[list[str]]:
    answer = client.get(f"/reports/{show}.csv")
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_node_hours_by_user_group_and_day(client_as: Any, ran: Any) -> None:
    page = words(client_as("manager").get("/reports/people/"))
    assert "1 job of 1 person used 4.00 node-hours" in page
    rows = table(client_as("manager"), "people")
    assert ["groups", "astro", "1", "4.0", "100.0"] in rows
    assert ["people", "user", "1", "4.0", "100.0"] in rows


def test_a_time_is_held_against_as_long_a_time_before(client_as: Any, ran: Any, make_job: Any, people: Any) -> None:
    earlier, end = make_job(people["other"], "succeeded"), timezone.now() - timedelta(days=40)
    Run.objects.filter(job=earlier).update(started_at=end - timedelta(hours=4), ended_at=end)
    page = words(client_as("manager").get("/reports/people/"))
    assert "4.00 node-hours after 8.00 in as long a time before: 50 % less." in page
    rows = table(client_as("manager"), "people")
    assert ["compared", "Node-hours", "4.0", "8.0", "-50.0"] in rows
    assert ["compared", "Jobs", "1", "1", "0.0"] in rows


def test_without_anything_before_there_is_no_change_in_percent(client_as: Any, ran: Any) -> None:
    assert ["compared", "Node-hours", "4.0", "0.0", "none"] in table(client_as("manager"), "people")
    assert "4.00 node-hours after 0.00 in as long a time before." in words(client_as("user").get("/reports/people/"))


def test_slowdown_and_moves_have_sentences_to_quote(client_as: Any, ran: Any) -> None:
    page = words(client_as("manager").get("/reports/slowdown/"))
    assert "1 of 1 run with a contract took longer than promised and lost 2.00 node-hours" in page
    page = words(client_as("manager").get("/reports/moves/"))
    assert "1 was right, 0 even and 0 wrong; together they ended jobs 30 min" in page


def test_people_see_their_own_use_alone(client_as: Any, ran: Any) -> None:
    assert "4.00 node-hours" in words(client_as("user").get("/reports/people/"))
    assert "0 jobs" in words(client_as("other").get("/reports/people/"))
    assert client_as("user").get("/reports/moves/").status_code == 403
    assert client_as("manager").get("/reports/nonsense/").status_code == 404


def test_the_pdf_is_one_of_several_sections(client_as: Any, ran: Any) -> None:
    answer = client_as("manager").get("/reports/report.pdf")
    assert answer["Content-Type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert len(answer.content) > 10_000
