"""A job that gets less than it was promised: weighed, proposed, decided by people, moved, and what that brought."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError, InputError
from gridportal.base.reasons import Code
from scheduling.checkpoints.services.requesting import stop_and_continue
from scheduling.contracts.models import Contract, ContractCall
from scheduling.contracts.services.tending import tend_contracts
from scheduling.jobs.models import Job
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import deciding, policies, weighing_jobs
from scheduling.rescheduling.services.rescheduler import reschedule
from scheduling.runs.models import Run
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints import stoppable_jobs as stoppable
from tests.scheduling.rescheduling.proposals import propose

STEPS = 100
Slow = Callable[..., Job]


def report(run: Run, *seconds: float, first: int = 1) -> None:
    """Lines of its program, each a step."""
    with Path(run.run_dir, "progress.jsonl").open("a", encoding="utf-8") as file:
        for at, each in enumerate(seconds, start=first):
            line = {"t": time.time() + at / 1000, "event": "phase", "phase": "step", "seconds": each}
            file.write(json.dumps(line | {"iteration": at, "of": STEPS}) + "\n")


def promise(run: Run, seconds: float) -> Contract:
    """A contract of a hundred steps of so many seconds each."""
    promised = Prediction("a model", (PhasePrediction("step", STEPS, (seconds,)),))
    contract = Contract.objects.create(run=run, promised=promised.document())
    return contract


@pytest.fixture
def slow_job(fake_grid: FakeGrid, submit: Any, application: Any, people: Any) -> Slow:
    """A stoppable job that was promised 10 s a step and takes 40; a tenth of the paper's worst case."""

    def make(seconds: float = 40.0, **policy: Any) -> Job:
        policies.change_policy(people["operator"], "grid", {"cost_scale": 0.1, **policy})
        stoppable.stoppable(application)
        job = stoppable.running(submit)
        run = stoppable.newest(job)
        promise(run, 10.0)
        report(run, *[seconds] * 10)
        tend_contracts()
        return job

    return make


def decision_of(job: Job) -> MoveDecision:
    return MoveDecision.objects.filter(job=job).latest("pk")


def test_a_broken_contract_becomes_a_proposal_with_its_figures(slow_job: Slow) -> None:
    job = slow_job()
    assert ContractCall.objects.count() >= 1
    reschedule()
    found = decision_of(job)
    assert (found.state, found.verdict, found.mode) == ("proposed", "move", "on-request")
    assert found.complete == pytest.approx(0.1)
    assert found.ret_current == pytest.approx(3600.0)
    assert found.ret_new is not None
    assert found.gain == pytest.approx((found.ret_current - found.ret_new - found.cost) / found.ret_current)
    assert set(found.nodes).isdisjoint(found.nodes_now)
    assert set(found.costs) == {"predicted", "worst-case"}
    assert ContractCall.objects.filter(answer={}).count() == 0


def test_it_is_asked_once_while_somebody_decides(slow_job: Slow) -> None:
    job = slow_job()
    for _ in range(3):
        reschedule()
        report(stoppable.newest(job), *[40.0] * 10, first=11)
        tend_contracts()
    assert MoveDecision.objects.filter(job=job).count() == 1


def test_an_approved_move_is_carried_out_and_verified(
    slow_job: Slow, fake_grid: FakeGrid, people: dict[str, Any]
) -> None:
    job = slow_job()
    reschedule()
    found = deciding.approve(people["operator"], decision_of(job), "msc is busy")
    reschedule()
    found.refresh_from_db()
    assert found.state == "moving"
    stoppable.look(job)
    assert stoppable.is_asked(job)
    stoppable.obey(job, fake_grid)
    stoppable.look(job)
    stoppable.restored(job, fake_grid)
    stoppable.look(job)
    reschedule()
    found.refresh_from_db()
    assert found.state == "moved"
    assert stoppable.newest(job).placement.nodes == found.nodes
    stoppable.end_well(job, fake_grid)
    stoppable.look(job)
    reschedule()
    found.refresh_from_db()
    assert found.state == "verified"
    assert found.outcome["gain"] == pytest.approx(found.outcome["saved"] / found.ret_current)
    steps = [(event.to_state, event.actor) for event in found.events.all()]
    assert steps == [
        ("proposed", "portal"),
        ("approved", "operator"),
        ("moving", "portal"),
        ("moved", "portal"),
        ("verified", "portal"),
    ]
    assert AuditEvent.objects.filter(action="move.approved").count() == 1


def test_a_refused_move_raises_the_limit_of_the_contract(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job()
    reschedule()
    before = Contract.objects.get().monitor_state.limits.upper
    found = deciding.refuse(people["operator"], decision_of(job), "it is nearly done")
    assert (found.state, found.by, found.why) == ("refused", "operator", "it is nearly done")
    assert Contract.objects.get().monitor_state.limits.upper > before
    reschedule()
    assert MoveDecision.objects.count() == 1


def test_of_two_operators_the_second_sees_what_was_decided(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job()
    reschedule()
    mine, theirs = decision_of(job), decision_of(job)
    deciding.refuse(people["operator"], mine, "not now")
    with pytest.raises(ConflictError, match=r"operator has refused decision [0-9]+ already \(“not now”\)\."):
        deciding.approve(people["administrator"], theirs)
    assert decision_of(job).state == "refused"


def test_a_proposal_that_nobody_decides_expires_and_the_job_stays(slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    MoveDecision.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    reschedule()
    assert decision_of(job).state == "expired"
    job.refresh_from_db()
    assert job.state == "running"


def test_a_proposal_expires_when_a_person_moves_the_job_by_hand(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job()
    reschedule()
    stop_and_continue(job, by=people["operator"], nodes=decision_of(job).nodes)
    stoppable.look(job)
    reschedule()
    assert decision_of(job).state == "expired"


@pytest.mark.parametrize(("policy", "state"), [("automatic", "moving"), ("observe", "observed")])
def test_the_mode_of_the_cluster_decides_without_people(slow_job: Slow, policy: str, state: str) -> None:
    job = slow_job(policy=policy)
    reschedule()
    assert decision_of(job).state == state


def test_a_job_whose_owner_does_not_want_it_is_not_moved(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job()
    policies.change_job_policy(people["user"], job, opted_out=True)
    reschedule()
    assert (decision_of(job).state, decision_of(job).verdict) == ("declined", "opted_out")


def test_a_move_that_costs_more_than_it_brings_is_declined(slow_job: Slow) -> None:
    job = slow_job(cost_scale=10.0, cost_kind="worst-case")
    reschedule()
    found = decision_of(job)
    assert (found.state, found.verdict) in {("declined", "too_little_gain"), ("declined", "too_late")}
    assert Contract.objects.get().monitor_state.call is None


def test_other_nodes_by_a_persons_word(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job()
    reschedule()
    proposed = decision_of(job)
    nodes = proposed.nodes[::-1]
    found = deciding.override(people["operator"], proposed, nodes, "the other way round")
    assert (found.state, found.nodes) == ("overridden", nodes)
    with pytest.raises(InputError, match="nodes"):
        deciding.override(people["operator"], propose_again(job), ["n9", "n8"], "nowhere")


def propose_again(job: Job) -> MoveDecision:
    MoveDecision.objects.filter(job=job).delete()
    return propose(job)


def test_a_program_that_cannot_be_stopped_is_answered_at_once(
    fake_grid: FakeGrid, submit: Any, application: Any
) -> None:
    job = stoppable.running(submit)
    run = stoppable.newest(job)
    promise(run, 10.0)
    report(run, *[40.0] * 10)
    tend_contracts()
    reschedule()
    assert ContractCall.objects.filter(answer={}).count() == 0
    assert not MoveDecision.objects.exists()


def test_nodes_that_become_free_are_offered_to_whoever_gains(
    slow_job: Slow, fake_grid: FakeGrid, submit: Any, people: dict[str, Any]
) -> None:
    other = stoppable.running(submit)
    job = slow_job()
    reschedule()
    declined = decision_of(job)
    assert (declined.verdict, declined.nodes) == ("no_nodes", [])
    lacking = declined.what_nodes_lack
    assert {each.node for each in lacking.nodes} == {f"n{at}" for at in range(1, 5)} - set(declined.nodes_now)
    assert {(each.reason.code, each.reason.facts["job"]) for each in lacking.nodes} == {(Code.NODE_BUSY, other.pk)}
    MoveDecision.objects.all().delete()
    reschedule()
    stoppable.end_well(other, fake_grid)
    stoppable.look(other)
    reschedule()
    found = decision_of(job)
    assert (found.mode, found.state) == ("opportunistic", "proposed")


def test_an_end_that_is_told_late_frees_nodes_too(slow_job: Slow, fake_grid: FakeGrid, submit: Any) -> None:
    """A cluster may say that it ended before what was looked at last."""
    other = stoppable.running(submit)
    job = slow_job()
    reschedule()
    MoveDecision.objects.all().delete()
    reschedule()
    stoppable.end_well(other, fake_grid)
    stoppable.look(other)
    Run.objects.filter(job=other).update(ended_at=timezone.now() - timedelta(hours=1))
    reschedule()
    assert (decision_of(job).mode, decision_of(job).state) == ("opportunistic", "proposed")
    MoveDecision.objects.all().delete()
    reschedule()
    assert not MoveDecision.objects.exists(), "it is looked at once"


def test_a_person_may_have_a_move_weighed(slow_job: Slow, people: dict[str, Any]) -> None:
    job = slow_job(seconds=10.0)
    found = weighing_jobs.weigh_on_request(people["operator"], job)
    assert (found.mode, found.state) == ("operator", "proposed")
    with pytest.raises(ConflictError, match="proposed or under way already"):
        weighing_jobs.weigh_on_request(people["operator"], job)
