"""What of a cluster `gridportal select` may choose from: the nodes, and the slots of nodes, that no job holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Topology
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.placing.selectors.occupancy import Occupancy, occupancy
from scheduling.selection.core.placement import Request, Selection

NAMED = 10


@dataclass
class FreeNodes:
    """The nodes of `network`, a cluster's, that are left for a request; `count_busy`: those that jobs hold as well.

    in_use: nodes that others hold; closed: nodes that the cluster gives to nobody, or that are not what is asked for.
    """

    cluster: str
    network: Topology
    count_busy: bool = False
    in_use: Mapping[str, int | None] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)

    def narrowed(self, request: Request, asked: RankRequest) -> Request:
        """The request without what is not free now. Raises DatabaseError."""
        seen = occupancy(self.cluster, asked=asked)
        there = {node.id for node in self.network.compute_nodes()}
        self.closed = {node: why for node, why in seen.unfit.items() if node in there}
        self.in_use = {node: seen.taken.get(node) for node in sorted(seen.occupied - set(seen.unfit)) if node in there}
        away = {*self.closed, *(() if self.count_busy else self.in_use)}
        return replace(request, exclude=request.exclude | away, slots=self._slots(request, seen))

    def _slots(self, request: Request, seen: Occupancy) -> dict[str, int] | None:
        free = seen.slots if self.count_busy else seen.free
        return None if request.slots is None else {**request.slots, **free}

    def reasons(self) -> dict[str, Reason]:
        """Of each node that is left out."""
        closed = {node: Reason.of(Code.NODE_CLOSED, error=why) for node, why in self.closed.items()}
        busy = {} if self.count_busy else {n: Reason.of(Code.NODE_BUSY, job=job) for n, job in self.in_use.items()}
        return {**busy, **closed}

    def summary(self, selection: Selection | None = None) -> str:
        """What was left out, or what of the answer is not free, in a line; '' where there is nothing to tell."""
        if self.count_busy:
            held = [node for node in self.in_use if selection is None or node in selection.nodes]
            return f"Of the chosen nodes jobs hold {_named(held)} now." if held and selection else ""
        hint = " --count-busy counts nodes in use too." if self.in_use else ""
        return f"{self._left_out()}{hint}"

    def _left_out(self) -> str:
        kinds = (([] if self.count_busy else list(self.in_use), "in use"), (list(self.closed), "closed or not fit"))
        parts = [f"{_named(nodes)} {what}" for nodes, what in kinds if nodes]
        return f"Left out: {'; '.join(parts)}." if parts else ""

    def document(self) -> dict[str, list[str]]:
        """For the JSON of the answer."""
        return {"in_use": list(self.in_use), "closed": list(self.closed)}

    def refusal(self, error: ImpossibleError) -> ImpossibleError:
        """The same, with how many are free, what was left out, and what to do."""
        held = {} if self.count_busy else self.in_use
        if not held and not self.closed:
            return ImpossibleError(str(error))
        advice = ["Ask for fewer nodes"]
        advice += ["wait until jobs end, or add --count-busy to choose among nodes in use too"] if held else []
        return ImpossibleError(f"{error} {self._left_out()} {', '.join(advice)}.")


def _named(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - NAMED} more" if len(nodes) > NAMED else ""
    return ", ".join(nodes[:NAMED]) + more
