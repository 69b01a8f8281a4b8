"""The audit trail: only ever added to, filtered by the address, and read by those who may."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.utils import timezone

from gridportal.accounts import selectors
from gridportal.accounts.models import AuditEvent
from gridportal.accounts.services import Subject, audit
from tests.markup import markup


@pytest.fixture
def trail(people):
    audit(people["user"], "job.submit", Subject("job", "12", "job 12"), nodes=4)
    audit(people["other"], "job.cancel", Subject("job", "120", "job 120"))
    audit("portal", "network.measure", Subject("cluster", "grid", "grid"))


def test_rows_cannot_be_changed_or_deleted(trail):
    event = AuditEvent.objects.first()
    for change in (
        event.save,
        event.delete,
        AuditEvent.objects.all().delete,
        lambda: AuditEvent.objects.update(actor_name="nobody"),
        lambda: AuditEvent.objects.filter(pk=event.pk).update(action="x"),
        lambda: AuditEvent.objects.bulk_update([event], ["action"]),
    ):
        with pytest.raises(TypeError, match="append-only"), transaction.atomic():
            change()
    assert AuditEvent.objects.count() == 3


def test_the_trail_outlives_the_person(trail, people):
    people["other"].delete()
    event = AuditEvent.objects.get(action="job.cancel")
    assert (event.actor, event.actor_name) == (None, "other")


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("", ["network.measure", "job.cancel", "job.submit"]),
        ("?actor=user", ["job.submit"]),
        ("?action=job", ["job.cancel", "job.submit"]),
        ("?object=job:12", ["job.submit"]),
        ("?object=job+12", ["job.cancel", "job.submit"]),
        ("?until=2001-01-01T00:00", []),
        ("?last=15m&actor=user", ["job.submit"]),
        ("?last=30d&until=2001-01-01T00:00", []),
        ("?since=2001-01-01T00:00&actor=portal", ["network.measure"]),
    ],
)
def test_filters_in_the_address_narrow_page_api_and_csv_alike(client_as, trail, query, actions):
    client = client_as("manager")
    assert [event.action for event in client.get(f"/audit/{query}").context["page"]] == actions
    assert [event["action"] for event in client.get(f"/api/audit{query}").json()["results"]] == actions
    rows = list(csv.DictReader(io.StringIO(client.get(f"/audit.csv{query}").getvalue().decode())))
    assert [row["action"] for row in rows] == actions


def test_the_last_hour_leaves_out_what_is_older(client_as, trail, monkeypatch):
    later = timezone.now() + timedelta(minutes=30)
    monkeypatch.setattr(selectors, "timezone", SimpleNamespace(now=lambda: later))
    client = client_as("manager")
    assert len(client.get("/audit/?last=1h").context["page"]) == 3
    assert len(client.get("/audit/?last=15m").context["page"]) == 0


def test_an_unreadable_time_is_said_and_the_api_refuses_it(client_as, trail):
    client = client_as("operator")
    assert "is no date and time" in markup(client.get("/audit/?since=yesterday"))
    answer = client.get("/api/audit?since=yesterday")
    assert answer.status_code == 400
    assert list(answer.json()) == ["since"]


def test_the_csv_holds_no_formulas(client_as, people):
    audit(people["user"], "job.submit", Subject("job", "1", "=HYPERLINK(1)"))
    text = client_as("operator").get("/audit.csv").getvalue().decode()
    assert "'=HYPERLINK" in text


def test_the_page_escapes_what_people_typed(client_as, people):
    audit(people["user"], "job.submit", Subject("job", "1", "<script>alert(1)</script>"), name="<b>x</b>")
    page = markup(client_as("operator").get("/audit/"))
    assert "<script>alert" not in page
    assert "<b>x" not in page


def test_long_trails_come_in_pages_that_keep_the_filter(client_as, people):
    for number in range(120):
        audit("portal", "test.count", Subject("job", str(number), f"job {number}"))
    page = client_as("manager").get("/audit/?action=test&page=2")
    assert len(page.context["page"].object_list) == 50
    assert "?action=test&amp;page=3" in markup(page)


def test_a_row_carries_request_and_address(client_as):
    answer = client_as("user").post(
        "/account/tokens", {"name": "t", "days": "7"}, headers={"X-Request-ID": "abcd-1234"}
    )
    event = AuditEvent.objects.get(action="token.create")
    assert (event.request_id, event.address) == ("abcd-1234", "127.0.0.1")
    assert answer["X-Request-ID"] == "abcd-1234"


def test_who_may_not_see_the_trail_is_told_who_may(client_as, people):
    page = client_as("user").get("/audit/")
    assert page.status_code == 403
    text = " ".join(page.content.decode().split())
    assert "Operators, managers and administrators see the audit trail." in text
    assert "Your role is user." in text
    assert client_as("user").get("/audit.csv").status_code == 403
    assert client_as("manager").get("/audit/").status_code == 200
