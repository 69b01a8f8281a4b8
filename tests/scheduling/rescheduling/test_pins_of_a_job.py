"""A decision on a job whose nodes somebody chose says so, with the ranks and the nodes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.charts import cost_bars
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase, predicted, worst_case
from scheduling.rescheduling.models import MoveDecision
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words

pytestmark = pytest.mark.django_db


def test_the_page_names_the_pinned_nodes(client_as: Any, make_job: Any, people: Any) -> None:
    pins = ApplicationSpecification.read({"pins": {"0": "n1", "1": ["n2", "n3"]}})
    row = propose(make_job(people["user"], "running", specification=pins))
    sentence = "user chose nodes for this job: rank 0 on n1 and rank 1 on n2 or n3. The portal keeps to them."
    assert decision_messages.pins(row) == sentence
    assert sentence in words(client_as("operator").get(f"/migrations/{row.pk}/"))


def test_nothing_is_said_of_a_job_without_pins(make_job: Any, people: Any) -> None:
    assert decision_messages.pins(propose(make_job(people["user"], "running"))) == ""


def test_the_legend_of_both_ways_has_the_parts_that_are_drawn() -> None:
    worst = worst_case()
    likely = predicted({CostPhase.REDISTRIBUTION: 20.0}, worst)
    costs = {CostKind.PREDICTED: likely.document()}
    row = MoveDecision(costs=costs, ret_current=9.0, ret_new=5.0, threshold=0.3)
    figure = cost_bars.ways(row)
    assert figure is not None
    drawn = {trace["marker"]["color"] for trace in figure["data"] if any(trace["x"])}
    assert {colour for colour, _ in cost_bars.legend(row)} == drawn
