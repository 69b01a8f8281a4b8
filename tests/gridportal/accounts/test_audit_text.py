"""The audit trail in words: each action that the code writes has some, and what is told is who did what to what."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.accounts.audit_text import action_label, action_text, is_described
from gridportal.accounts.models import AuditEvent
from gridportal.accounts.services import Subject, audit
from tests.markup import markup

_ROOT = Path(__file__).parents[3]


def written_actions() -> Iterator[str]:
    """The second argument of each call of `audit` that is a text."""
    for room in ("gridportal", "monitoring", "scheduling"):
        for file in (_ROOT / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if "audit(" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "audit" and len(node.args) > 1:
                    yield from (part.value for part in ast.walk(node.args[1]) if isinstance(part, ast.Constant))


def test_each_action_has_words():
    actions = {action for action in written_actions() if "." in action and not action.endswith(".")}
    assert len(actions) > 30
    assert not [action for action in sorted(actions) if not is_described(action)]


def test_each_action_can_be_chosen_in_words(client_as, people):
    audit(people["user"], "alert_rule.mute", Subject("alertrule", "1", "Busy links"))
    audit(people["user"], "moves.change_policy", Subject("reschedulingpolicy", "1", "moves on grid"))
    page = markup(client_as("administrator").get("/audit/"))
    assert '<option value="alert_rule.mute">muted an alert rule</option>' in page
    assert action_label("moves.change_policy") == "changed the rules on moves"
    assert action_label("move.propose") == "proposed a move"
    assert action_label("application.bring") == "brought an application"


@pytest.mark.parametrize(
    ("action", "subject", "text"),
    [
        ("job.submit", Subject("job", "12", "job 12"), "submitted job 12"),
        ("alert_rule.make", Subject("alertrule", "1", "Busy links"), "made the alert rule Busy links"),
        ("match_request.cancel", Subject("matchrequest", "5", "request 5"), "cancelled request 5"),
        ("move.refused", Subject("movedecision", "2", "decision 2 on job 4"), "refused decision 2 on job 4"),
        (
            "moves.change_policy",
            Subject("reschedulingpolicy", "1", "moves on grid"),
            "changed the rules on moves on grid",
        ),
        ("person.set_role", Subject("user", "3", "ann"), "changed the role of ann"),
        ("person.sign_in", Subject("user", "3", "ann"), "signed in"),
        ("application.bring", Subject("application", "7", "My solver"), "brought the application My solver"),
        ("move.propose", Subject("job", "12", "job 12"), "proposed to move job 12"),
        ("job.dance", Subject("job", "12", "job 12"), "job: dance job 12"),
    ],
)
def test_an_action_in_words(action, subject, text):
    row = AuditEvent(action=action, object_type=subject.type, object_id=subject.id, object_label=subject.label)
    assert action_text(row) == text


def test_the_page_tells_it_in_words_with_details_on_demand(client_as, people):
    audit(people["user"], "job.submit", Subject("job", "12", "job 12"), node_count=4)
    page = markup(client_as("operator").get("/audit/"))
    assert "<strong>user</strong>" in page
    assert '/jobs/12/">submitted job 12</a>' in page
    details = page[page.index("<details>") :]
    assert "<dt>node count</dt><dd>4</dd>" in details
    assert "job.submit" in details


def test_the_trail_sorts_by_time_and_by_person(client_as, people):
    for person, number in (("user", 1), ("other", 2), ("user", 3)):
        audit(people[person], "job.submit", Subject("job", str(number), f"job {number}"))

    def jobs(sort: str) -> str:
        page = markup(client_as("operator").get(f"/audit/?action=job&sort={sort}"))
        assert page.count("aria-sort=") == 1
        return "".join(re.findall(r"submitted job (\d)</a>", page))

    assert (jobs("when"), jobs("-when"), jobs("")) == ("123", "321", "321")
    assert (jobs("who"), jobs("-who")) == ("231", "312")
    rows = client_as("operator").get("/audit.csv?action=job&sort=who").getvalue().decode().splitlines()[1:]
    assert [row.split(",")[4] for row in rows] == ["2", "3", "1"]
