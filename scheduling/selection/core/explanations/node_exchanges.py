"""Every node that meets a request in the place of every chosen node: which exchange is best, and by what it loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gridportal.base.rank_places import distinct, ranks_of
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.selection.core.aims import Aim
from scheduling.selection.core.explanations.domain_reasons import DomainReasons
from scheduling.selection.core.explanations.slack_exchanges import SlackExchanges
from scheduling.selection.core.explanations.talking_nodes import talking_nodes
from scheduling.selection.core.flows.exchanged_flows import ExchangedFlows
from scheduling.selection.core.flows.link_crossings import LinkCrossings
from scheduling.selection.core.method_aims import ANY_LINK, aims_of
from scheduling.selection.core.pairs.member_rates import member_rates
from scheduling.selection.core.pairs.pair_latency import slow_to
from scheduling.selection.core.pairs.pair_rates import NO_PATH, Pairs
from scheduling.selection.core.placement import Candidate, Request
from scheduling.selection.core.slots.node_slots import room_of
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

#: Figures that differ by less than this part of them are equal.
EQUAL = 1e-9
#: So many nodes are weighed with all pairs talking at once, which takes a walk over all paths each time.
MOST_AT_ONCE = 200


@dataclass
class NodeExchanges:
    """Every node that meets the request (rows) in the place of every chosen node (columns)."""

    pairs: Pairs
    request: Request
    pattern: Pattern | None
    chosen: Candidate
    _weighed_at_once: int = 0

    def reasons(self) -> dict[str, Reason]:
        """By name, of the nodes outside the group."""
        names = [node.id for node in self.pairs.usable]
        left = [row for row, name in enumerate(names) if name not in self.members]
        if not left:
            return {}
        has_room = self._fits(left)
        fits = has_room if self._slow is None else has_room & self._near(left, self._slow)
        if self.chosen.level is not None and self.pattern is not None:
            return self._by_message_times(left, fits, self.pattern, self.chosen.level)
        columns, values = self._best(left, fits)
        found = {}
        for at, row in enumerate(left):
            if fits[at].any():
                found[names[row]] = self._reason(row, int(columns[at]), values[:, at])
            else:
                found[names[row]] = self._unplaced(row, has_room[at])
        return found

    def _by_message_times(self, left: Sequence[int], fits: Bools, pattern: Pattern, level: float) -> dict[str, Reason]:
        exchanges = SlackExchanges(self.pairs, pattern, self.rows, level)
        found = exchanges.reasons(left, fits, self.request.min_bandwidth)
        return {self.pairs.usable[row].id: reason for row, reason in zip(left, found, strict=True)}

    @cached_property
    def members(self) -> Mapping[str, int]:
        """The chosen nodes, each once, with their columns."""
        return {name: column for column, name in enumerate(distinct(self.chosen.nodes))}

    @cached_property
    def rows(self) -> Sequence[int]:
        """Of the chosen nodes."""
        place = {node.id: row for row, node in enumerate(self.pairs.usable)}
        return [place[name] for name in self.members]

    @cached_property
    def partners(self) -> Sequence[Sequence[int]]:
        """With which other chosen nodes the ranks of each talk, as columns."""
        found: list[set[int]] = [set() for _ in self.members]
        for a, b in talking_nodes(self.chosen.nodes, self.pattern):
            found[a].add(b)
            found[b].add(a)
        return [sorted(each) for each in found]

    @cached_property
    def aims(self) -> Mapping[str, Aim]:
        """What the method maximises, then what decides among equals."""
        cpu = [node.effective_cpu for node in self.pairs.usable]
        return dict(aims_of(self.request, cpu, talks=any(self.partners)))

    @cached_property
    def own(self) -> Mapping[str, float]:
        """What the chosen group is worth by each aim."""
        found = {}
        for name, aim in self.aims.items():
            rates = self.rates[name][self.rows]
            talking = [float(rates[a, b]) for a, there in enumerate(self.partners) for b in there]
            caps = [] if aim.caps is None else [aim.caps[row] for row in self.rows]
            found[name] = min([*talking, *caps], default=np.inf)
        if self.request.flows and any(self.partners):  # of less than all pairs have at once no pair alone makes more
            found[next(iter(found))] = self.chosen.score
        return found

    @cached_property
    def rates(self) -> Mapping[str, Floats]:
        """n x m, by the name of the aim."""
        shape = len(self.pairs.usable), len(self.rows)
        return {
            name: np.full(shape, np.inf) if aim.value is ANY_LINK else member_rates(self.pairs, self.rows, aim.value)
            for name, aim in self.aims.items()
        }

    @cached_property
    def room(self) -> Room:
        """Slots of nodes, and where each rank may stand."""
        return room_of(self.request, self.pairs.usable)

    @cached_property
    def ranks(self) -> Sequence[Sequence[int]]:
        """On each of the chosen nodes."""
        return list(ranks_of(self.chosen.nodes).values())

    def _fits(self, left: Sequence[int]) -> Bools:
        """len(left) x m: whether a node has room for the ranks of another, and they may stand there."""
        rows = np.array(left)
        fits: Bools = self.room.capacity[rows][:, None] >= np.array([len(ranks) for ranks in self.ranks])[None, :]
        domains = self.room.domains
        if domains is not None:
            fits &= np.stack([domains[list(ranks)][:, rows].all(axis=0) for ranks in self.ranks], axis=1)
        return fits

    @cached_property
    def _slow(self) -> Bools | None:
        """n x m: which pairs do not meet the condition on latency; None where there is none."""
        condition = self.request.require.get(label_conditions.LATENCY)
        return None if condition is None else slow_to(self.pairs, self.rows, condition)

    def _near(self, left: Sequence[int], slow: Bools) -> Bools:
        """len(left) x m: whether a node would be near enough to all that it talks to in the place of another."""
        rows = np.array(left)
        return np.stack([~slow[rows][:, list(there)].any(axis=1) for there in self.partners], axis=1)

    def _too_far(self, row: int, column: int) -> Reason:
        slow = self._slow
        far = next(there for there in self.partners[column] if slow is not None and slow[row, there])
        pair = [self.pairs.usable[row].id, list(self.members)[far]]
        condition = label_conditions.written(label_conditions.LATENCY, self.request.require[label_conditions.LATENCY])
        return Reason.of(Code.NODE_TOO_FAR, place_of=list(self.members)[column], pair=pair, condition=condition)

    def _unplaced(self, row: int, has_room: Bools) -> Reason:
        """Of a node that may stand in no place; `has_room`: in which it had room."""
        return self._too_far(row, int(has_room.argmax())) if has_room.any() else self._no_room(row)

    def _no_room(self, row: int) -> Reason:
        needed, has = min(map(len, self.ranks)), int(self.room.capacity[row])
        if has < needed:
            return Reason.of(Code.NODE_TOO_SMALL, slots=has, needed=needed)
        return self._domain_reasons.reason(self.pairs.usable[row])

    @cached_property
    def _domain_reasons(self) -> DomainReasons:
        return DomainReasons(self.request.specification)

    def _best(self, left: Sequence[int], fits: Bools) -> tuple[Ints, Floats]:
        """Of each node the column where it does best, of those where it fits, and its value there by each aim."""
        tables = {name: self._values(name, left) for name in self.aims}
        possible = fits.copy()
        if self.request.min_bandwidth > 0 and "bandwidth" in tables:
            enough = tables["bandwidth"] >= self.request.min_bandwidth
            enough &= possible
            possible = np.where(enough.any(axis=1, keepdims=True), enough, possible)
        for table in tables.values():
            highest = np.max(np.where(possible, table, -np.inf), axis=1, keepdims=True)
            possible &= table >= highest - EQUAL * np.abs(np.where(np.isfinite(highest), highest, 0.0))
        columns = possible.argmax(axis=1)
        return columns, np.array([table[np.arange(len(left)), columns] for table in tables.values()])

    def _values(self, name: str, left: Sequence[int]) -> Floats:
        """len(left) x m: what the group is worth with a node in the place of another."""
        rates, caps = self.rates[name], self.aims[name].caps
        outside = rates[list(left)]
        table: Floats = np.minimum(self._to_partners(outside), np.array(self._without(name)))
        if caps is not None:
            table = np.minimum(table, np.asarray(caps)[list(left)][:, None])
        return table

    def _to_partners(self, outside: Floats) -> Floats:
        """The lowest of each node's rates to the partners of each column."""
        m = len(self.rows)
        if m > 1 and all(len(there) == m - 1 for there in self.partners):  # all but itself: the lowest, or the second
            lowest, second = np.partition(outside, 1, axis=1)[:, :2].T[:, :, None]
            others: Floats = np.where(np.arange(m) == outside.argmin(axis=1)[:, None], second, lowest)
            return others
        table = np.full(outside.shape, np.inf)
        for column, there in enumerate(self.partners):
            table[:, column] = outside[:, np.array(there, dtype=np.int64)].min(axis=1, initial=np.inf)
        return table

    def _without(self, name: str) -> list[float]:
        """What the group is worth without each of its nodes, by an aim."""
        inside, caps = self.rates[name][self.rows], self.aims[name].caps
        m = len(self.rows)
        ends = np.array(
            [(a, b) for a, there in enumerate(self.partners) for b in there if a < b], dtype=np.int64
        ).reshape(-1, 2)
        worth = inside[ends[:, 0], ends[:, 1]]
        if caps is not None:
            ends = np.concatenate([ends, np.repeat(np.arange(m), 2).reshape(-1, 2)])
            worth = np.concatenate([worth, np.asarray(caps)[self.rows]])
        return [float(worth[(ends != column).all(axis=1)].min(initial=np.inf)) for column in range(m)]

    def _reason(self, row: int, column: int, values: Floats) -> Reason:
        place_of = list(self.members)[column]
        by_name = dict(zip(self.aims, values.tolist(), strict=True))
        asked = self.request.min_bandwidth
        if asked > 0 and by_name.get("bandwidth", asked) < asked:
            return self._slower(row, column, place_of, min_bandwidth=asked)
        for at, (name, value) in enumerate(by_name.items()):
            best = self.own[name]
            if value < best - EQUAL * abs(best):
                return self._less(name, value, row, column, place_of, is_first=at == 0)
            if self.request.flows and at == 0:
                why = self._at_once(row, column, place_of)
                if why is not None:
                    return why
                continue
            if value > best + EQUAL * abs(best):
                return Reason.of(Code.NODE_PASSED_OVER, place_of=place_of)
        return Reason.of(Code.NODE_AS_GOOD, place_of=place_of)

    def _at_once(self, row: int, column: int, place_of: str) -> Reason | None:
        """By what all pairs have when they talk at once, None where that is as much; of the first nodes that are good
        enough by their own pairs."""
        flows = self._flows
        if flows is None or self._weighed_at_once >= MOST_AT_ONCE:
            return Reason.of(Code.NODE_NOT_WEIGHED, place_of=place_of)
        self._weighed_at_once += 1
        value, best = flows.lowest(self.rows[column], row), self.chosen.score
        if value < best - EQUAL * abs(best):
            return Reason.of(Code.NODE_SLOWER_AT_ONCE, place_of=place_of, bandwidth=value, best=best)
        return Reason.of(Code.NODE_PASSED_OVER, place_of=place_of) if value > best + EQUAL * abs(best) else None

    @cached_property
    def _flows(self) -> ExchangedFlows | None:
        """None for the balanced method, whose score is of another whole."""
        if self.request.method == "balanced":
            return None
        places = [self.rows[self.members[name]] for name in self.chosen.nodes]
        return ExchangedFlows(self.pairs.derived(LinkCrossings), places, self._rank_pairs)

    @cached_property
    def _rank_pairs(self) -> list[tuple[int, int]]:
        """The pairs of ranks that talk from node to node."""
        nodes = self.chosen.nodes
        pattern = self.pattern or named("all-to-all", len(nodes))
        return [(a, b) for a, b, _ in pattern.edges if nodes[a] != nodes[b]]

    def _less(self, name: str, value: float, row: int, column: int, place_of: str, *, is_first: bool) -> Reason:
        """By an aim in which the group would have less with the node; `is_first`: the one that the method maximises."""
        best = self.own[name]
        if value == NO_PATH:
            return Reason.of(Code.NODE_APART, place_of=place_of, pair=self._slowest(row, column)[0])
        if name == "score":
            return Reason.of(Code.NODE_LESS_BALANCED, place_of=place_of, score=value, best=best)
        if name == "cpu":
            code = Code.NODE_LESS_CPU if is_first else Code.NODE_LESS_CPU_AT_EQUALS
            return Reason.of(code, place_of=place_of, cpu=value, best=best)
        if is_first:
            return self._slower(row, column, place_of)
        return Reason.of(Code.NODE_SLOWER_AT_EQUALS, place_of=place_of, bandwidth=value, best=best)

    def _slower(self, row: int, column: int, place_of: str, min_bandwidth: float | None = None) -> Reason:
        """Than the group, or than what was asked for."""
        pair, rate = self._slowest(row, column)
        if rate == NO_PATH:
            return Reason.of(Code.NODE_APART, place_of=place_of, pair=pair)
        facts = {"place_of": place_of, "pair": pair, "bandwidth": rate}
        if min_bandwidth is not None:
            return Reason.of(Code.NODE_BELOW, **facts, min_bandwidth=min_bandwidth)
        return Reason.of(Code.NODE_SLOWER, **facts, best=self.own["bandwidth"])

    def _slowest(self, row: int, column: int) -> tuple[list[str], float]:
        """The pair with the lowest rate that the node would be in there, and the rate."""
        rates = self.rates["bandwidth"][row]
        partner = min(self.partners[column], key=lambda there: rates[there])
        return [self.pairs.usable[row].id, list(self.members)[partner]], float(rates[partner])
