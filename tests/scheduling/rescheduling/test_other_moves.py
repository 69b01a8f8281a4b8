"""Moves that no decision asked for stand in lists, CSV, REST and reports, marked as what they are."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from gridportal.base.reasons import Code, Reason, text_reason
from scheduling.jobs.models import Job
from scheduling.rescheduling.models import DecisionEvent
from scheduling.runs.models import Run
from tests.scheduling.pages.test_moves import words_of
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_move_rules import moved_by_hand

pytestmark = pytest.mark.django_db
KINDS = ["requeue", "went_back", "direct"]


@pytest.fixture
def others(make_job: Any, people: Any) -> list[Job]:
    """One of each kind: moved at once, went back, put back twice; of two people."""
    direct, back, requeued = (make_job(people[name], "running") for name in ("user", "other", "user"))
    moved_by_hand(direct, 8, why="quieter there")
    moved_by_hand(back, 6, state="failed", back=True)
    Run.objects.filter(job=requeued).update(restarts=2)
    return [direct, back, requeued]


def lines(client: Any) -> list[dict[str, str]]:
    text = b"".join(client.get("/migrations.csv").streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_the_csv_has_them_with_their_kind(client_as: Any, others: list[Job], make_job: Any, people: Any) -> None:
    propose(make_job(people["user"], "running"))
    assert [line["kind"] for line in lines(client_as("operator"))] == ["decision", *KINDS]
    mine = lines(client_as("user"))
    assert [(line["kind"], line["job"]) for line in mine[1:]] == [
        ("requeue", str(others[2].pk)),
        ("direct", str(others[0].pk)),
    ]
    assert (mine[-1]["decision"], mine[-1]["reason"], mine[-1]["nodes"]) == ("", "quieter there", "n5 n6")


def test_rest_lists_them(client_as: Any, others: list[Job]) -> None:
    found = client_as("operator").get("/api/migrations/without-decision").json()["results"]
    assert [(each["kind"], each["times"]) for each in found] == [("requeue", 2), ("went_back", 1), ("direct", 1)]
    mine = client_as("user").get("/api/migrations/without-decision").json()["results"]
    assert [each["job"] for each in mine] == [others[2].pk, others[0].pk]


def test_the_page_says_what_each_was(client_as: Any, others: list[Job]) -> None:
    shown = words_of(client_as("operator").get("/migrations/?show=moved"))
    for words in ("moved at once", "did not start there, went back", "put back into the queue by its cluster, 2 times"):
        assert words in shown


def test_the_report_counts_them(client_as: Any, others: list[Job]) -> None:
    shown = words_of(client_as("manager").get("/reports/moves/"))
    assert "4 moves had no decision: nothing was predicted." in shown
    text = client_as("manager").get("/reports/moves/others.csv")
    rows = list(csv.reader(io.StringIO(b"".join(text).decode())))
    assert [row[:3] for row in rows[1:]] == [
        ["moved at once", "1", "1"],
        ["did not start there, went back", "1", "0"],
        ["put back into the queue by its cluster", "2", "2"],
    ]


def test_rest_says_of_a_failed_decision_what_failed(client_as: Any, make_job: Any, people: Any) -> None:
    decision = propose(make_job(people["user"], "running"), state="failed")
    why = Reason.of(Code.MOVE_REFUSED, why=text_reason("None of 6 nodes is free."))
    DecisionEvent.objects.create(decision=decision, to_state="failed", reason=why)
    for told in (
        client_as("operator").get(f"/api/migrations/{decision.pk}").json(),
        client_as("operator").get("/api/migrations").json()["results"][0],
    ):
        assert told["finding"] == "The move failed. Nothing was stopped: None of 6 nodes is free."
        assert told["reason_code"] == "move_refused"
        assert told["reason_facts"]["why"]["facts"] == {"text": "None of 6 nodes is free."}
