"""Contracts that are rejected before the launch: the nodes are left out, and others are looked for, a few times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gridportal.base.reasons import Code
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.performance.services.asking import PATIENCE, Answers
from scheduling.placing.services import contract_development
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import stoppable

LIMIT = 600
Asked = list[tuple[str, ...]]
Promise = Callable[[Callable[[tuple[str, ...]], list[float]]], Asked]


@pytest.fixture
def promise(monkeypatch: pytest.MonkeyPatch) -> Promise:
    """Let models say these seconds of nodes; the node sets that they are asked about."""

    def make(seconds: Callable[[tuple[str, ...]], list[float]]) -> Asked:
        asked: Asked = []

        def predict(question: RunQuestion, job: Job, min_cpu: float | None, patience: float) -> Answers:
            assert patience < PATIENCE, "others wait behind it"
            asked.append(question.nodes)
            return Answers(
                tuple(
                    Prediction(f"model {at}", (PhasePrediction("step", 1, (each,)),))
                    for at, each in enumerate(seconds(question.nodes))
                )
            )

        monkeypatch.setattr(contract_development, "predict_all", predict)
        return asked

    return make


def placed(submit: Any, **asked: Any) -> Job:
    job: Job = submit(2, **{"time_limit": LIMIT, **asked})
    tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    return job


def test_a_rejected_contract_leads_to_other_nodes_and_says_why(
    submit: Any, fake_grid: FakeGrid, promise: Promise
) -> None:
    asked: Asked = []
    asked = promise(lambda nodes: [3600.0] if nodes == asked[0] else [60.0])
    job = placed(submit)
    (placement,) = job.placements.all()
    assert len(asked) == 2
    assert set(placement.nodes).isdisjoint(asked[0])
    reasons = {each.node: each.reason for each in placement.explanation.nodes}
    assert {reasons[node].code for node in asked[0]} == {Code.CONTRACT_REJECTED}
    assert "it would take about 3600 s" in message(reasons[asked[0][0]])


def test_a_job_whose_contracts_are_all_rejected_waits_with_the_first_rejection(
    submit: Any, fake_grid: FakeGrid, promise: Promise
) -> None:
    asked = promise(lambda nodes: [3600.0, 1200.0])
    job = placed(submit)
    assert (job.state, job.reason.code, job.runs.count()) == ("waiting", Code.CONTRACT_REJECTED, 0)
    assert 1 < len(asked) <= contract_development.MOST
    assert (job.reason.facts["seconds"], job.reason.facts["nodes"]) == (1200.0, list(asked[0]))
    assert job.events.filter(to_state="waiting").get().reason.code is Code.CONTRACT_REJECTED


@pytest.mark.parametrize("seconds", [[], [3600.0, 700.0], [300.0]])
def test_a_model_that_says_less_or_none_at_all_lets_it_start(
    submit: Any, fake_grid: FakeGrid, promise: Promise, seconds: list[float]
) -> None:
    promise(lambda nodes: seconds)
    assert placed(submit).state in ("starting", "running")


def test_without_a_limit_and_for_a_program_that_stops_before_it_nobody_is_asked(
    submit: Any, fake_grid: FakeGrid, promise: Promise, application: Any
) -> None:
    asked = promise(lambda nodes: [3600.0])
    assert placed(submit, time_limit=None).runs.count() == 1
    stoppable(application)
    assert placed(submit).runs.count() == 1
    assert asked == []
