"""What each other node lacks, where a job that runs could go to none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gridportal.base.errors import InputError
from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Node
from monitoring.clusters import selectors as clusters
from scheduling.checkpoints.services.reserving import PlannedMove, occupancy_without, spec_of
from scheduling.jobs.core.explanation import NO_EXPLANATION, Explanation, NodeReason
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.placing.services.requests import question
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.models import Run
from scheduling.selection.core.explanations.node_reasons import unmet
from scheduling.selection.core.placement import Request

#: So many nodes are named; of all there are the counts.
MOST_NAMED = 64


def nodes_lacking(run: Run, planned: Sequence[PlannedMove] = ()) -> Explanation:
    """Of every node but those of a running `run`, on as many ranks as it has. `planned`: moves that count as made.

    Cost: O(nodes); no network is looked at. Empty where what the job asks for cannot be read any more.
    """
    own = list(run.placement.nodes)
    try:
        spec, pattern = spec_of(Continuation(job=run.job, source=run, nodes=[], ranks=len(own)))
        asked = question(spec, pattern)
    except InputError:
        return NO_EXPLANATION
    seen = occupancy_without(run.job, spec, own, planned)
    others = [node for node in clusters.compute_nodes(run.job.cluster) if node.id not in own]
    return Explanation.some_of(list(_reasons(others, asked, seen)), MOST_NAMED)


def _reasons(others: Sequence[Node], asked: Request, seen: Occupancy) -> Iterator[NodeReason]:
    """Those that come nearest first: what fits by itself, what lacks something, what is in use, what is closed."""
    found = {node.id: _away(node.id, seen) or unmet(node, asked) for node in others}
    excluded = asked.exclude | set(asked.specification.exclude if asked.specification else ())
    found |= dict.fromkeys(excluded & found.keys(), Reason.of(Code.NODE_EXCLUDED))
    fitting = [name for name, why in found.items() if why is None]
    room = sum(seen.free.get(name, 1) for name in fitting)
    nothing = Reason.of(Code.NODE_LACKS_NOTHING, room=room, ranks=asked.rank_count)
    reasons = [NodeReason(name, why or nothing) for name, why in found.items()]
    yield from sorted(reasons, key=lambda each: _ORDER.get(each.reason.code, 1))


_ORDER = {Code.NODE_LACKS_NOTHING: 0, Code.NODE_BUSY: 2, Code.NODE_CLOSED: 3}


def _away(name: str, seen: Occupancy) -> Reason | None:
    """What keeps a node from the job: the cluster, what is asked of nodes, or other jobs."""
    if lacks := seen.missing.get(name):
        return Reason.of(Code.NODE_LACKS_OPTION, **lacks._asdict())
    if name in seen.unfit:
        return Reason.of(Code.NODE_CLOSED, error=seen.unfit[name])
    return Reason.of(Code.NODE_BUSY, job=seen.taken.get(name)) if name in seen.occupied else None
