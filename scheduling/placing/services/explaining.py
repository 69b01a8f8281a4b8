"""Why the nodes that a job did not get were not taken, in the words of the selection and of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from gridportal.base.reasons import Code, Reason
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core.explanation import NO_EXPLANATION, Explanation
from scheduling.placing.core.match_notes import NO_NOTES, MatchNotes
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.placing.services.choosing import on_all_nodes, on_free_nodes
from scheduling.selection.core.explanations.choice_explanation import explanation
from scheduling.selection.core.pairs.pair_latency import latency_unknown
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
    match: MatchNotes = NO_NOTES,
) -> Explanation:
    """Of one selection. `free`: only nodes that nobody uses could be taken; `most`: of so many nodes each has its own
    reason; `rejected`: nodes on which the contract was rejected; `match`: of the request of the job. On a cluster whose
    nodes are one machine any are as good, and only the match's remarks are told."""
    if not status.cluster.traits.has_network:
        return replace(NO_EXPLANATION, remarks=match.remarks)
    question = on_free_nodes(asked, seen) if free else on_all_nodes(asked, seen)
    question = replace(question, exclude=(question.exclude | frozenset(match.left_out)) - set(selection.nodes))
    excluded = {**match.left_out, **_away(seen, free=free), **rejected}
    made = explanation(status.topology, question, selection, excluded, most=most)
    unknown = latency_unknown(status.topology, asked.require)
    return replace(made, among=match.among, remarks=(*match.remarks, *([unknown] if unknown else [])))


def _away(seen: Occupancy, *, free: bool) -> dict[str, Reason]:
    """The nodes that the cluster itself keeps from the job."""
    closed = {node: Reason.of(Code.NODE_CLOSED, error=why) for node, why in seen.unfit.items()}
    closed |= {node: Reason.of(Code.NODE_LACKS_OPTION, **lacks._asdict()) for node, lacks in seen.missing.items()}
    if not free:
        return closed
    busy = {node: Reason.of(Code.NODE_BUSY, job=seen.taken.get(node)) for node in seen.occupied}
    return {**busy, **closed}
