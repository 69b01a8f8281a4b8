"""Choosing nodes for a job when some are busy: wait for the best, choose again among free ones, or take the next."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from django.conf import settings

from gridportal.base.clusters import BUSY, Busy
from gridportal.base.errors import GridPortalError, ImpossibleError
from gridportal.base.reasons import NOTHING, Code, Reason, named, text_reason
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core.explanation import NO_EXPLANATION, Explanation
from scheduling.placing.core.room import most
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.selection.core import placement
from scheduling.selection.core.placement import Selection
from scheduling.selection.core.selection import select
from scheduling.selection.core.slots.node_slots import slots
from scheduling.skeletons.core.trial_rounds import Plan


class WaitsError(GridPortalError):
    """The job cannot start now; `reason` says why. `refused`: by the selection, on the figures as they are."""

    def __init__(self, reason: Reason, *, refused: bool = False) -> None:
        super().__init__(reason.dump())
        self.reason, self.refused = reason, refused


Answer = Callable[[NetworkStatus, placement.Request], Selection]


@dataclass(frozen=True)
class Choice:
    """A selection, and whether nobody uses its nodes; if somebody does, the cluster's own queue is to wait for them.

    `plan`: how its candidates are to be tried by the job's skeleton, or None; `untried`: why not, where it was asked.
    `explanation`: why the other nodes were not taken, where somebody looked. `shares`: what part of the work a mapper
    gave each machine.
    """

    selection: Selection
    free: bool
    plan: Plan | None = None
    untried: Reason = NOTHING
    explanation: Explanation = NO_EXPLANATION
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes that the job holds at first, each once for each rank there: those of every group that is tried."""
        if self.plan is None:
            return self.selection.nodes
        return most(self.selection.candidates[place].nodes for place in self.plan.groups)


def policy_of(cluster: str, asked: str) -> Busy:
    """What to do about busy nodes: as asked, else as the cluster has it."""
    configured = settings.CLUSTERS.get(cluster)
    if asked in BUSY:
        return cast(Busy, asked)
    return configured.busy_default if configured else "again"


def answer(status: NetworkStatus, asked: placement.Request) -> Selection:
    """The selection; ImpossibleError when nothing satisfies the request."""
    selection = select(status.topology, asked, rng=random.Random(asked.seed), clock=time.monotonic)  # noqa: S311
    return selection if status.cluster.traits.has_network else _alike(selection)


class Remembered:
    """Answers as `answer` does, and equal questions about one look at the network only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Selection | ImpossibleError] = {}

    def __call__(self, status: NetworkStatus, asked: placement.Request) -> Selection:
        """Raises ImpossibleError as before."""
        key = (status.when, *_key(asked))
        if key not in self._known:
            try:
                self._known[key] = answer(status, asked)
            except ImpossibleError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, ImpossibleError):
            raise ImpossibleError(str(found))
        return found


def _key(asked: placement.Request) -> tuple[Any, ...]:
    """Equal for equal questions; mappings, and what has some, can be no keys."""
    plain = replace(asked, require={}, slots=None, specification=None)
    values = (getattr(plain, each.name) for each in fields(plain) if each.name != "require")
    require, room = sorted(asked.require.items()), sorted((asked.slots or {}).items())
    return (*values, tuple(require), tuple(room), repr(asked.specification))


def _alike(selection: Selection) -> Selection:
    """Without what is said of a network that the cluster has not: its nodes are one machine."""
    groups = tuple(map(_without_network, selection.candidates))
    return replace(selection, objective=groups[0].objective, bottleneck=None, candidates=groups)


def _without_network(group: placement.Candidate) -> placement.Candidate:
    objective = replace(group.objective, min_bandwidth=None)
    reason = Reason.of(Code.ONE_MACHINE)
    return replace(group, objective=objective, bottleneck=None, link=None, edges=(), reason=reason)


def choose(
    status: NetworkStatus,
    asked: placement.Request,
    seen: Occupancy,
    policy: Busy,
    *,
    in_queue: bool,
    answer: Answer = answer,
) -> Choice:
    """The nodes for a job. `in_queue`: the cluster has a queue in which the job can wait for busy nodes. `answer`: who
    selects, where it is not this module's own.

    Raises WaitsError with the reason when it has to wait here.
    """
    if policy == "again":
        return _again(status, asked, seen, answer, in_queue=in_queue)
    best = _best(status, asked, seen, answer)
    if seen.has_room(best.nodes):
        return Choice(best, free=True)
    later = _next_free(best, seen) if policy == "next" else None
    if later is not None:
        return Choice(later, free=True)
    if in_queue:
        return Choice(best, free=False)
    jobs, more = named(sorted({seen.taken[node] for node in best.nodes if node in seen.taken}))
    raise WaitsError(Reason.of(Code.NODES_BUSY, nodes=best.nodes, holders=jobs, more=more), refused=True)


def _again(
    status: NetworkStatus, asked: placement.Request, seen: Occupancy, answer: Answer, *, in_queue: bool
) -> Choice:
    asked_free = on_free_nodes(asked, seen)
    if in_queue and _capacity(status, asked_free) < asked.rank_count:
        return Choice(_best(status, asked, seen, answer), free=False)
    try:
        free = answer(status, asked_free)
        return Choice(free, free=True)
    except ImpossibleError as error:
        why = text_reason(str(error))
    best = _best(status, asked, seen, answer)
    if in_queue:
        return Choice(best, free=False)
    if not seen.occupied:
        raise WaitsError(_not_now(why, asked), refused=True)
    jobs, more = named(sorted(set(seen.taken.values())))
    raise WaitsError(Reason.of(Code.NOT_AMONG_FREE, why=why, holders=jobs, more=more), refused=True)


def _closed_pins(asked: placement.Request, seen: Occupancy) -> dict[str, str]:
    """The nodes of pins of which none can be had now, but later; each with the reason."""
    pins = asked.specification.pins if asked.specification else ()
    closed = seen.closed
    lost = [pin for pin in pins if pin.nodes and all(node in closed for node in pin.nodes)]
    return {node: closed[node] for pin in lost for node in pin.nodes}


def _best(status: NetworkStatus, asked: placement.Request, seen: Occupancy, answer: Answer) -> Selection:
    """The best nodes whoever uses them. Raises WaitsError when not even all of them would do."""
    try:
        return answer(status, on_all_nodes(asked, seen))
    except ImpossibleError as error:
        if pinned := _closed_pins(asked, seen):
            raise WaitsError(_closed(replace(seen, unfit=pinned)), refused=True) from error
        if seen.closed and _capacity(status, on_all_nodes(asked, seen)) < asked.rank_count:
            raise WaitsError(_closed(seen), refused=True) from error
        raise WaitsError(_not_now(text_reason(str(error)), asked), refused=True) from error


def on_all_nodes(asked: placement.Request, seen: Occupancy) -> placement.Request:
    """The question about all nodes that the job may have, whoever uses them."""
    return replace(asked, exclude=frozenset(seen.unfit), slots=_slots(asked, seen.slots))


def on_free_nodes(asked: placement.Request, seen: Occupancy) -> placement.Request:
    """The question about the nodes, and the slots of nodes, that nobody uses."""
    return replace(asked, exclude=frozenset(seen.unfit) | seen.occupied, slots=_slots(asked, seen.free))


def _slots(asked: placement.Request, by_node: Mapping[str, int]) -> dict[str, int] | None:
    """Room for ranks by node; None where each rank has a node of its own."""
    return None if asked.is_one_a_node else dict(by_node)


def _capacity(status: NetworkStatus, asked: placement.Request) -> int:
    """How many ranks the nodes have room for that are not excluded."""
    return sum(slots(asked, node) for node in status.topology.compute_nodes() if node.id not in asked.exclude)


def _next_free(best: Selection, seen: Occupancy) -> Selection | None:
    """The first candidate whose nodes are all free, with the others behind it."""
    for candidate in best.candidates:
        if seen.has_room(candidate.nodes):
            first = replace(candidate, reason=Reason.of(Code.FIRST_FREE, why=candidate.reason))
            rest = tuple(other for other in best.candidates if other is not candidate)
            return replace(
                best,
                nodes=candidate.nodes,
                objective=candidate.objective,
                bottleneck=candidate.bottleneck,
                candidates=(first, *rest),
                optimal=False,
            )
    return None


def _not_now(why: Reason, asked: placement.Request) -> Reason:
    return Reason.of(Code.NOT_NOW, why=why, min_bandwidth=asked.min_bandwidth, min_cpu=asked.min_cpu)


def _closed(seen: Occupancy) -> Reason:
    first, more = named(seen.closed.items())
    return Reason.of(Code.NODES_CLOSED, closed=dict(first), more=more)
