"""Why it is faster on the nodes of a proposal, in one sentence, and figures with the moment that they are of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, Objective, RankPair
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import named_nodes
from tests.scheduling.pages.test_moves import words_of as text_of
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words

AT = datetime(2026, 3, 1, 12, 3, 11, tzinfo=UTC)
PEAKS = {("n1", "s"): 1e8, ("n2", "s"): 1e8, ("n3", "s"): 1e8, ("n4", "s"): 1e8}
STEPS = Prediction("fitted", (PhasePrediction("time_step", 100, (0.46,)), PhasePrediction("output", 1, (2.0,))))


def group(*nodes: str, cpu: float | None = 1.0, rate: float | None = 8e7) -> dict[str, Any]:
    pair = RankPair((0, 1), *nodes, rate, 1.0, link=(nodes[0], "s"))
    worst = None if rate is None else Bottleneck(pair)
    return CandidateGroup(nodes, Objective(rate, cpu), worst, (pair,)).document()


def decision(here: dict[str, Any], there: dict[str, Any], **fields: Any) -> MoveDecision:
    values: dict[str, Any] = {"nodes_now": ["n1", "n2"], "nodes": ["n3", "n4"], "created_at": AT}
    return MoveDecision(groups={"now": here, "there": there}, **(values | fields))


def test_busy_processes_and_the_link_in_use_are_told_of_both() -> None:
    row = decision(group("n1", "n2", cpu=1 / 3, rate=12e6), group("n3", "n4"))
    assert what_differs(row, PEAKS, None) == (
        "When it was weighed, 12:03:11 UTC: the busiest processor here had 33.3 % free (2 busy processes), "
        "there 100 % (no busy process); the slowest pair here had 12 Mbit/s (n1–s, 88 % in use), and there "
        "80 Mbit/s (n3–s, 20 % in use)."
    )


def test_what_is_the_same_on_both_is_not_told_as_a_difference() -> None:
    shown = what_differs(decision(group("n1", "n2", cpu=0.5), group("n3", "n4")), PEAKS, None)
    assert "(1 busy process)" in shown
    assert "slowest pair" not in shown


def test_sets_that_look_alike_leave_the_promised_seconds_of_a_step() -> None:
    row = decision(group("n1", "n2"), group("n3", "n4"), average=2.43, complete=0.5, ret_current=100.0, ret_new=41.0)
    assert what_differs(row, PEAKS, STEPS) == (
        "When it was weighed, 12:03:11 UTC: both node sets offer processors and links that are equally free, which "
        "does not explain that the model promises so different times; at the measured pace of this run, one report of "
        "time step takes 1.12 s here; there it should take 0.458 s: a "
        "prediction of the model, nothing was measured."
    )


def test_sets_that_look_alike_and_take_nearly_the_same_time_are_called_so() -> None:
    row = decision(group("n1", "n2"), group("n3", "n4"), ret_current=100.0, ret_new=95.0)
    assert what_differs(row, PEAKS, None).endswith("both node sets offer processors and links that are equally free.")


def test_an_idle_slow_processor_is_not_called_busy() -> None:
    row = decision(group("n1", "n2", cpu=0.5), group("n3", "n4", cpu=0.48))
    speeds = {"n1": 1.0, "n2": 1.0, "n3": 0.48, "n4": 0.48}
    assert what_differs(row, PEAKS, None, speeds).endswith(
        "the busiest processor here had 50 % free (1 busy process) at speed 1, there 100 % (no busy process) at 0.48."
    )


def test_of_a_set_with_several_speeds_no_busy_process_is_counted() -> None:
    row = decision(group("n1", "n2", cpu=0.5), group("n3", "n4", cpu=0.48))
    told = what_differs(row, PEAKS, None, {"n3": 0.48})
    assert "here gave 50 % of a processor of speed 1, there it gives 48 %" in told
    assert "busy process" not in told


def test_another_number_of_ranks_is_a_difference() -> None:
    row = decision(group("n1", "n2"), group("n3", "n4"), nodes=["n3", "n3", "n4", "n4"])
    assert "it had 2 ranks here and would have 4 there" in what_differs(row, PEAKS, None)


@pytest.mark.parametrize(
    ("nodes", "rate", "sentence"),
    [
        (("n1", "n2", "n5"), 8e7, "here, several pairs share a link"),
        (("n1", "n2"), 8e7, "the only pair here has 80 Mbit/s"),
        (("n1", "n2"), None, "here, only one pair has a link"),
        (("n1", "n1"), None, "here, no pair needs a link"),
    ],
)
def test_a_set_without_a_slowest_pair_says_why(nodes: tuple[str, ...], rate: float | None, sentence: str) -> None:
    here = CandidateGroup(nodes, Objective(rate, 1.0)).document()
    assert sentence in what_differs(decision(here, group("n3", "n4")), PEAKS, None)


def test_nothing_is_told_of_sets_that_nobody_looked_at() -> None:
    row = MoveDecision(nodes_now=["n1", "n2"], nodes=["n3", "n4"], created_at=AT)
    assert what_differs(row, PEAKS, None) == ""


@pytest.mark.parametrize("address", ["/migrations/", "/migrations/{}/"])
def test_the_pages_and_rest_say_it(client_as: Any, make_job: Any, people: Any, address: str) -> None:
    groups = {"now": group("n1", "n2", cpu=0.25), "there": group("n3", "n4")}
    row = propose(make_job(people["user"], "running"), groups=groups, created_at=AT)
    sentence = "the busiest processor here had 25 % free (3 busy processes)"
    client = client_as("operator")
    assert sentence in words(client.get(address.format(row.pk)))
    assert sentence in client.get(f"/api/migrations/{row.pk}").json()["difference"]


def test_figures_of_two_moments_stand_beside_each_other_with_their_moments(
    client_as: Any, make_job: Any, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = propose(make_job(people["user"], "running"), created_at=AT)
    monkeypatch.setattr(named_nodes, "decision_there", lambda decision, nodes, ranks: decision)
    address = f"/migrations/{row.pk}/elsewhere?nodes=n5+n6"
    page = text_of(client_as("operator").get(address, headers={"HX-Request": "true"}))
    assert "as proposed when proposed, 2026-03-01 12:03:11" in page
    assert "these nodes now, 20" in page
