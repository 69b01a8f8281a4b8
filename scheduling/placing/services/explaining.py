"""Why the nodes that a job did not get were not taken, in the words of the selection and of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from gridportal.base.reasons import Code, Reason
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core.explanation import NO_EXPLANATION, Explanation
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.placing.services.choosing import on_all_nodes, on_free_nodes
from scheduling.selection.core.explanations.choice_explanation import explanation
from scheduling.selection.core.placement import Request, Selection

NOBODY: Mapping[str, Reason] = MappingProxyType({})
#: Of so many nodes a placement keeps the reason of each; of more there are the counts.
MOST_STORED = 64


def explain(
    status: NetworkStatus,
    asked: Request,
    seen: Occupancy,
    selection: Selection,
    *,
    free: bool,
    most: int,
    rejected: Mapping[str, Reason] = NOBODY,
) -> Explanation:
    """Of one selection. `free`: only nodes that nobody uses could be taken; `most`: of so many nodes each has its own
    reason; `rejected`: nodes on which the contract was rejected. Empty on a cluster whose nodes are one machine: there
    any are as good."""
    if not status.cluster.traits.has_network:
        return NO_EXPLANATION
    question = on_free_nodes(asked, seen) if free else on_all_nodes(asked, seen)
    question = replace(question, exclude=question.exclude - set(selection.nodes))
    return explanation(status.topology, question, selection, {**_away(seen, free=free), **rejected}, most=most)


def _away(seen: Occupancy, *, free: bool) -> dict[str, Reason]:
    """The nodes that the cluster itself keeps from the job."""
    closed = {node: Reason.of(Code.NODE_CLOSED, error=why) for node, why in seen.unfit.items()}
    if not free:
        return closed
    busy = {node: Reason.of(Code.NODE_BUSY, job=seen.taken.get(node)) for node in seen.occupied}
    return {**busy, **closed}
