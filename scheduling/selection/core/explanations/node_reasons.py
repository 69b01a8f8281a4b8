"""Why a compute node was not taken: one reason for each.

Source: ours. A node that meets the request is tried in the place of each chosen node in turn; the best of these groups
says by what it loses. That is exact for one exchange and no search over whole groups.
"""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Node, Topology
from scheduling.jobs.core.explanation import NodeReason
from scheduling.selection.core.eligible import of_nodes
from scheduling.selection.core.explanations.domain_reasons import lacks
from scheduling.selection.core.explanations.node_exchanges import NodeExchanges
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.placement import Request, Selection
from scheduling.selection.core.slots.node_slots import meets_all


def node_reasons(
    topology: Topology, request: Request, selection: Selection, excluded: Mapping[str, Reason] | None = None
) -> tuple[NodeReason, ...]:
    """One reason for each compute node outside the chosen group, in the topology's order. `excluded`: why nodes are in
    the request's `exclude`, where it is not that the job named them.

    Cost: of each node to each member one rate; O(nodes * edges of the pattern) for the exchanges.

    >>> import random
    >>> from gridportal.network.topology import parse
    >>> from scheduling.selection.core.selection import select
    >>> links = [{"source": x, "target": "s", "capacity": w} for x, w in (("a", 9), ("b", 4), ("c", 8))]
    >>> net = parse({"nodes": [*({"id": x} for x in "abc"), {"id": "s", "kind": "network"}], "links": links})
    >>> asked = Request(2, "communication")
    >>> chosen = select(net, asked, rng=random.Random(0), clock=lambda: 0.0)
    >>> [(each.node, each.reason.code.value) for each in node_reasons(net, asked, chosen)]
    [('b', 'node_slower')]
    """
    chosen = selection.candidates[0]
    taken = set(chosen.nodes)
    others = [node for node in topology.compute_nodes() if node.id not in taken]
    first = {node.id: _unfit(node, request, excluded or {}) for node in others}
    weighed = [node for node in topology.compute_nodes() if node.id in taken or first[node.id] is None]
    exchanges = NodeExchanges(Pairs.of(topology, weighed), request, selection.pattern, chosen)
    of_others = {} if request.method == "random" else exchanges.reasons()
    drawn = Reason.of(Code.NODE_NOT_DRAWN)
    return tuple(NodeReason(name, why or of_others.get(name, drawn)) for name, why in first.items())


def _unfit(node: Node, request: Request, excluded: Mapping[str, Reason]) -> Reason | None:
    """By what the job asks of every node it may not be used; in the order of `usable_nodes`."""
    if node.id in request.excluded:
        return excluded.get(node.id) or Reason.of(Code.NODE_EXCLUDED)
    return unmet(node, request)


def unmet(node: Node, request: Request) -> Reason | None:
    """What the job asks of every node and this one has not: the first label or the free processor; None: nothing."""
    for label, condition in of_nodes(request):
        if not meets_all(node, [(label, condition)]):
            return lacks(node, label, condition)
    if node.cpu < request.min_cpu:
        return Reason.of(Code.NODE_LOW_CPU, cpu=node.cpu, min_cpu=request.min_cpu)
    return None
