"""Who asked for a move, proposed it and decided on it, and of which moment its figures are: alike on all pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.commands import move_tables
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.services import deciding
from scheduling.rescheduling.services.rescheduler import reschedule
from scheduling.templatetags.moves import named_for_move
from tests.scheduling.checkpoints import stoppable_jobs as stoppable
from tests.scheduling.pages.test_moves import words_of
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job
from tests.scheduling.rescheduling.test_what_differs import PEAKS, group

__all__ = ["slow_job"]


def declined(job: Any, **fields: Any) -> MoveDecision:
    row = propose(job, state="declined", verdict="no_nodes", nodes=[], ret_new=None, gain=None, **fields)
    row.events.update(actor="operator")
    return row


def test_what_a_person_asked_for_and_the_portal_declined_is_told_alike(client_as: Any, slow_job: Slow) -> None:
    row = declined(slow_job(), mode="operator")
    client = client_as("operator")
    for address in (row.get_absolute_url(), row.job.get_absolute_url(), "/migrations/?show=not-moved"):
        assert "portal, asked by operator" in words_of(client.get(address)), address


def test_a_proposal_that_was_approved_was_not_named_by_who_approved_it(people: Any, slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    decision = decision_of(job)
    deciding.approve(people["operator"], decision)
    reschedule()
    stoppable.look(job)
    move = job.continuations.get()
    assert move.placement is not None
    words = named_for_move(move.placement)
    assert words == "The portal proposed these nodes for a move; operator approved it."
    assert decision_messages.decided_by(decision_of(job)) == "operator"
    assert [who for _, who in decision_messages.steps(decision_of(job))][:2] == ["portal", "operator"]


def test_figures_of_nodes_that_a_person_took_have_their_own_moment(client_as: Any, make_job: Any, people: Any) -> None:
    now = timezone.now()
    weighed, taken = now - timedelta(seconds=106), now - timedelta(seconds=36)
    row = propose(
        make_job(people["user"], "running"),
        created_at=weighed,
        measured_at=now - timedelta(seconds=44),
        groups={"now": group("n1", "n2", cpu=0.25), "there": group("n3", "n4")},
    )
    MoveDecision.objects.filter(pk=row.pk).update(state="overridden")
    DecisionEvent.objects.create(
        decision=row, at=taken, from_state="proposed", to_state="overridden", actor="operator", why="these"
    )
    assert what_differs(row, PEAKS, None).startswith(
        f"Here when it was weighed, {weighed:%H:%M:%S} UTC, there when these nodes were taken, {taken:%H:%M:%S} UTC: "
    )
    page = words_of(client_as("operator").get(row.get_absolute_url()))
    assert "8 s before the decision; " in page
    assert "Other nodes were taken" in page


def test_without_nodes_nobody_says_that_the_network_was_never_measured(
    client_as: Any, make_job: Any, people: Any
) -> None:
    row = declined(make_job(people["user"], "running"))
    page = words_of(client_as("operator").get(row.get_absolute_url()))
    assert "Network measured not needed: no other nodes were compared" in page


@pytest.mark.parametrize(
    ("mode", "gain", "asked_by", "pays"),
    [
        ("operator", -0.555, "operator", False),
        ("operator", 0.5, "operator", True),
        ("operator", None, "operator", None),
        ("on-request", 0.5, None, True),
    ],
)
def test_that_a_person_asked_though_it_does_not_pay_is_a_value(
    client_as: Any, make_job: Any, people: Any, mode: str, gain: float | None, asked_by: str | None, pays: bool | None
) -> None:
    row = propose(make_job(people["user"], "running"), mode=mode, gain=gain)
    row.events.update(actor=asked_by or "portal")
    client = client_as("operator")
    for told in (client.get(f"/api/migrations/{row.pk}").json(), move_tables.document(move_tables.decision(row.pk))):
        assert (told["verdict"], told["asked_by"], told["pays"]) == ("move", asked_by, pays)
    page = words_of(client.get(row.get_absolute_url()))
    assert ("Asked for by operator" in page) == (asked_by is not None)
    assert ("By its figures not proposed" in page) == (pays is False)
