"""All that is told of a choice beside its groups."""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.base.reasons import Reason
from gridportal.network.topology import Topology
from scheduling.jobs.core.explanation import MOST_KEPT, Explanation
from scheduling.selection.core.explanations.next_link import next_link
from scheduling.selection.core.explanations.node_reasons import node_reasons
from scheduling.selection.core.placement import Request, Selection


def explanation(
    topology: Topology,
    request: Request,
    selection: Selection,
    excluded: Mapping[str, Reason] | None = None,
    *,
    most: int = MOST_KEPT,
) -> Explanation:
    """Why the other nodes were not taken, and what a better link would buy the chosen ones. `excluded`: why nodes are
    in the request's `exclude`; `most`: of so many nodes each has its own reason, of more there are the counts."""
    reasons = node_reasons(topology, request, selection, excluded)
    return Explanation.of(reasons, next_link(topology, selection), most)
