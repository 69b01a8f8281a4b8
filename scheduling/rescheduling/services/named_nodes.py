"""A move to nodes, or to a number of ranks, that somebody names: weighed as the portal weighs its own choice.

Source: Migration 2003, 6.2; that people name nodes is beyond the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from gridportal.base.errors import ImpossibleError, InputError
from scheduling.checkpoints.core.targets import Target
from scheduling.checkpoints.services import requesting
from scheduling.checkpoints.services.reserving import NodeChoice, choose_elsewhere
from scheduling.contracts.selectors import promises
from scheduling.jobs.services.advance import take_over
from scheduling.placing.services.choosing import WaitsError
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.move_cost import CostKind
from scheduling.rescheduling.core.weighing import MoveFigures
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services.job_elsewhere import running, there
from scheduling.runs.models import Run

#: How many seconds old the measurement may be by which such a move is weighed: nothing is reserved by it, and who
#: decides does not wait for a sweep over a large network. When the nodes are reserved they are judged by new figures.
_MOST_AGE = 600.0


def check_named(nodes: Sequence[str], ranks: int | None) -> None:
    """Raises InputError where nothing is named."""
    if not nodes and ranks is None:
        raise InputError("nodes", "", "names of nodes, or another number of ranks")


def check_target(decision: MoveDecision, nodes: Sequence[str], ranks: int | None) -> None:
    """Raises InputError where the job cannot go, as far as is known without measuring."""
    check_named(nodes, ranks)
    requesting.check_target(decision.job, running(decision.job), nodes or None, ranks)


def figures_there(decision: MoveDecision, nodes: Sequence[str], ranks: int | None = None) -> dict[str, Any]:
    """The columns of a decision for other nodes or another number of ranks, which somebody has named; without nodes the
    portal chooses them. By what was measured last, up to ten minutes ago, with the loads of now.

    Raises InputError where they cannot be."""
    run = running(decision.job)
    check_named(nodes, ranks)
    contract = promises.contract_of(run)
    view = promises.view_of(contract) if contract else None
    policy = selectors.policy(decision.cluster)
    choice = _choice_of(run, requesting.check_target(decision.job, run, nodes or None, ranks))
    elsewhere = there(run, contract, view, policy, choice)
    figures = MoveFigures(view.remaining if view else None, elsewhere.ret_new, elsewhere.nodes)
    cost = elsewhere.costs[CostKind(policy.cost_kind)]
    return {
        "nodes": list(choice.nodes),
        "groups": decision.groups | {"there": choice.group.document()},
        "measured_at": choice.measured_at,
        "complete": view.complete if view else None,
        "ret_current": figures.ret_current,
        "ret_new": figures.ret_new,
        "cost": cost.total,
        "cost_kind": cost.kind,
        "costs": elsewhere.documents,
        "gain": figures.gain(cost.total),
    }


def decision_there(decision: MoveDecision, nodes: Sequence[str], ranks: int | None = None) -> MoveDecision:
    """The decision as it would be for other nodes; nothing is written. Raises InputError where they cannot be."""
    other = copy(decision)
    take_over(other, figures_there(decision, nodes, ranks))
    return other


def _choice_of(run: Run, asked: Target) -> NodeChoice:
    nodes = list(asked.nodes)
    if nodes == list(run.placement.nodes):
        raise InputError("nodes", " ".join(nodes), "other nodes than those where the job runs")
    field, typed = ("nodes", " ".join(nodes)) if nodes else ("ranks", str(asked.ranks))
    try:
        return choose_elsewhere(run, nodes=nodes, ranks=asked.ranks, max_age=_MOST_AGE)
    except WaitsError as error:
        accepted = "nodes that are free and take jobs" if nodes else "a number for which nodes are free"
        raise InputError(field, typed, accepted) from error
    except ImpossibleError as error:
        raise InputError(field, typed, f"nodes that can take the job. {error}") from error
