"""Which nodes a request may use, and the sentence for a request that too few nodes satisfy."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Node, Topology
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.methods import CONCURRENT, CONCURRENT_METHODS, METHODS
from scheduling.jobs.core.rank_request import check_agreement
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.node_slots import meets_all, slots

#: Ranks of a job, and slots of a node.
MOST_RANKS = 10_000_000


def check(request: Request) -> None:
    """Raise InputError for the first field of a request that no topology could accept."""
    _check_size(request)
    _whole(request.candidates, "candidates")
    _whole(request.differ, "differ")
    if request.differ > 1 and request.method == "random":
        raise InputError("differ", request.differ, "1 with the method random, whose groups are drawn")
    _whole(request.seed, "seed", low=0)
    if request.method not in METHODS:
        raise InputError("method", request.method, "one of " + ", ".join(METHODS))
    _number(request.min_bandwidth, "min_bandwidth", "a bandwidth of 0 bit/s or more", low=0.0)
    _number(request.min_cpu, "min_cpu", "a fraction from 0 to 1", low=0.0, high=1.0)
    _number(request.compute_priority, "compute_priority", "a factor above 0", low=0.0, above=True)
    _number(request.time_budget, "time_budget", "a number of seconds above 0", low=0.0, above=True)
    if request.reference_bandwidth is not None:
        _number(request.reference_bandwidth, "reference_bandwidth", "a bandwidth above 0 bit/s", low=0.0, above=True)
    _number(request.slack, "slack", "a fraction from 0 to 0.9", low=0.0, high=0.9)
    if request.flows and request.method not in CONCURRENT:
        raise InputError("flows", request.flows, f"{CONCURRENT_METHODS} with it")
    if request.by_pattern:
        _check_pattern(request)


def _check_size(request: Request) -> None:
    of_groups = request.specification.ranks if request.specification else None
    if request.ranks is None and request.nodes is None and request.ranks_per_node is None and of_groups is None:
        raise InputError("ranks", None, "a number of ranks or of nodes")
    for name in ("nodes", "ranks", "ranks_per_node"):
        if getattr(request, name) is not None:
            _whole(getattr(request, name), name, high=MOST_RANKS)
    for node, room in (request.slots or {}).items():
        _whole(room, f"slots.{node}", low=0, high=MOST_RANKS)
    ranks = request.rank_count
    if of_groups is not None and ranks != of_groups:
        field = "nodes" if request.ranks is None else "ranks"
        raise InputError(
            field, getattr(request, field), f"{of_groups}, as the groups of the specification have together"
        )
    check_agreement(ranks, request.nodes, request.ranks_per_node)


def usable_nodes(topology: Topology, request: Request) -> tuple[Node, ...]:
    """The compute nodes with room for a rank that satisfy exclude, require and min_cpu. Raises InputError,
    ImpossibleError.

    Each failing requirement is named with the number of nodes that satisfy it and those checked before it.
    """
    nodes = topology.compute_nodes()
    _check_names(nodes, request)
    enough = Enough(request)
    _check_room(nodes, enough)
    if not enough.are(nodes):
        only = "" if enough.needed(nodes) else "only "
        raise ImpossibleError(f"The topology has {only}{enough.count(nodes, 'compute node')}, {enough.wanted(nodes)}.")
    left = tuple(node for node in nodes if node.id not in request.excluded) if request.excluded else nodes
    if not enough.are(left):
        raise ImpossibleError(
            f"{enough.part(left, nodes)} {_are(left)} free (not excluded, not in use), and {enough.wanted(left)}."
        )
    conditions: list[str] = []
    for key, value in of_nodes(request):
        conditions.append(label_conditions.written(key, value))
        left = tuple(node for node in left if meets_all(node, [(key, value)]))
        if not enough.are(left):
            have = "has" if len(left) <= 1 else "have"
            raise ImpossibleError(
                f"{enough.part(left, nodes)} {have} {' and '.join(conditions)}, {enough.wanted(left)}."
            )
    left = _with_cpu(left, enough, conditions)
    return left if enough.is_by_nodes else tuple(node for node in left if slots(request, node) > 0)


def _check_room(nodes: tuple[Node, ...], enough: Enough) -> None:
    """Raise ImpossibleError where some nodes have no room for a rank, and the others too little: one sentence counts
    what is excluded, what is full, and what is left."""
    request = enough.request
    left = tuple(node for node in nodes if node.id not in request.excluded)
    room = tuple(node for node in left if slots(request, node) > 0)
    if enough.is_by_nodes or request.slots is None or len(room) == len(nodes) or enough.are(left):
        return
    out, full = len(nodes) - len(left), len(left) - len(room)
    many = "has" if len(room) == 1 else "have"
    causes = [f"{out} {'is' if out == 1 else 'are'} excluded or in use"] if out else []
    causes += [f"{full} {'has' if full == 1 else 'have'} no room for a rank"] if full else []
    why = " and ".join(causes)
    if not room:
        raise ImpossibleError(f"None of {_count(len(nodes), 'compute node')} has room: {why}.")
    fit = _count(sum(slots(request, node) for node in room), "rank")
    who = f"{len(room)} of {_count(len(nodes), 'compute node')}"
    raise ImpossibleError(f"Only {who} {many} room, for {fit}, and {enough.asked}: {why}.")


def _are(nodes: Sequence[Node]) -> str:
    return "is" if len(nodes) <= 1 else "are"


def of_nodes(request: Request) -> list[tuple[str, str]]:
    """The conditions that each node has to meet, in a fixed order; latency is one on pairs."""
    return sorted(each for each in request.require.items() if each[0] != label_conditions.LATENCY)


def _check_names(nodes: Sequence[Node], request: Request) -> None:
    """Raise InputError for the name of a node that is not there."""
    pins = request.specification.pins if request.specification else ()
    if not request.excluded and not pins:
        return
    ids = {node.id for node in nodes}
    for name in sorted(request.excluded - ids):
        raise InputError("exclude", name, "the id of a compute node")
    for pin in pins:
        for name in pin.nodes:
            if name not in ids:
                raise InputError(f"pins.{pin.what}", name, "the id of a compute node")


def _with_cpu(nodes: tuple[Node, ...], enough: Enough, conditions: list[str]) -> tuple[Node, ...]:
    least = enough.request.min_cpu
    left = tuple(node for node in nodes if node.cpu >= least) if least > 0 else nodes
    if enough.are(left):
        return left
    wanted = " and ".join([*conditions, f"cpu >= {least:g}"])
    have = "node has" if len(left) == 1 else "nodes have"
    best = math.floor(enough.best_cpu(nodes) * 1000) / 1000
    who = f"the best {enough.request.rank_count}" if enough.is_by_nodes else "the best with slots enough"
    few = f"Only {enough.short(left, have)}" if left else "No node has"
    raise ImpossibleError(f"{few} {wanted}, {enough.asked}: {who} have cpu >= {best:g}.")


@dataclass(frozen=True)
class Enough:
    """Whether nodes are enough: as many as ranks where each has a node of its own, else by their slots."""

    request: Request

    @property
    def is_by_nodes(self) -> bool:
        """Whether only the number of nodes counts."""
        return self.request.is_one_a_node and self.request.slots is None

    def are(self, nodes: Sequence[Node]) -> bool:
        """Whether so many nodes, or slots on them, were asked for at most."""
        request = self.request
        if self.is_by_nodes:
            return len(nodes) >= request.rank_count
        room = sorted((slots(request, node) for node in nodes), reverse=True)
        most = room[: request.node_count]
        is_room = all(count > 0 for count in most) or request.node_count is None
        return sum(most) >= request.rank_count and len(most) >= (request.node_count or 1) and is_room

    @property
    def asked(self) -> str:
        """What was asked for, as the end of a sentence."""
        ranks = self.request.rank_count
        were = "was" if ranks == 1 else "were"
        if self.is_by_nodes:
            return f"{ranks} {were} asked for"
        on = "" if self.request.node_count is None else f" on {_count(self.request.node_count, 'node')}"
        return f"{_count(ranks, 'rank')}{on} {were} asked for"

    def wanted(self, nodes: Sequence[Node]) -> str:
        """The same, and how many nodes it takes where all of these together have room enough."""
        least = self.needed(nodes)
        if not least:
            return self.asked
        each = max(slots(self.request, node) for node in nodes)
        most = f"a node has room for {each} of them" + (" at most" if self._differ(nodes) else "")
        return f"{self.asked}: {most}, so that they take {_count(least, 'node')}"

    def needed(self, nodes: Sequence[Node]) -> int:
        """How many of the nodes have room for all ranks, where that are more than were asked for; else 0."""
        asked = self.request.node_count
        if self.is_by_nodes or asked is None:
            return 0
        room = accumulate(sorted((slots(self.request, node) for node in nodes), reverse=True))
        least = next((count for count, fit in enumerate(room, 1) if fit >= self.request.rank_count), 0)
        return least if least > asked else 0

    def _differ(self, nodes: Sequence[Node]) -> bool:
        return len({slots(self.request, node) for node in nodes}) > 1

    def count(self, nodes: Sequence[Node], noun: str = "node") -> str:
        """So many nodes, and where that counts their room."""
        return _count(len(nodes), noun) + self._room(nodes)

    def part(self, nodes: Sequence[Node], of: Sequence[Node]) -> str:
        """How few of all nodes, as the beginning of a sentence."""
        whole = _count(len(of), "node")
        return f"Only {self.short(nodes)} of {whole}" if nodes else f"None of {whole}"

    def short(self, nodes: Sequence[Node], noun: str = "") -> str:
        """The number alone, and where that counts the nodes' room."""
        return f"{len(nodes)}{' ' * bool(noun)}{noun}{self._room(nodes)}"

    def _room(self, nodes: Sequence[Node]) -> str:
        return "" if self.is_by_nodes else f" (room for {_count(sum(slots(self.request, n) for n in nodes), 'rank')})"

    def best_cpu(self, nodes: Sequence[Node]) -> float:
        """The highest cpu that enough of the nodes have."""
        falling = sorted({node.cpu for node in nodes}, reverse=True)
        return next(cpu for cpu in falling if self.are([node for node in nodes if node.cpu >= cpu]))


def _check_pattern(request: Request) -> None:
    pattern = request.talking
    if pattern is None:
        raise InputError("pattern", None, "a pattern, which the method pattern needs (ring, all-to-all, cg, ...)")
    if pattern.ranks != request.rank_count:
        wanted = f"{pattern.ranks}, the number of ranks of the pattern {pattern.name}"
        raise InputError("nodes" if request.ranks is None else "ranks", request.rank_count, wanted)


def _whole(value: object, field: str, low: int = 1, high: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(field, value, f"a whole number from {low}" + (f" to {high}" if high < math.inf else ""))


def _number(
    value: object, field: str, accepted: str, *, low: float, high: float = math.inf, above: bool = False
) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(field, value, accepted)
    if not low <= value <= min(high, sys.float_info.max) or (above and value == low):
        raise InputError(field, value, accepted)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
