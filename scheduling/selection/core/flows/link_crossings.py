"""How the flows of a placement meet on links: for every pair of nodes its path, for every link what n flows get on it.

Source: Selection 1999, 3.4 (simultaneous traffic streams may share a link, which node selection by pairs leaves out).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from gridportal.network.flows import Flow, FlowRate, flow_query
from gridportal.network.link_columns import link_columns
from gridportal.network.routes import Path, Routes
from gridportal.network.sharing import Sharing, sharing_columns
from gridportal.network.switch_hops import switch_hops
from scheduling.selection.core.pairs.pair_rates import Pairs
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: Parts of a flow smaller than this are not told apart.
MOST_PARTS = 4096
Arcs = tuple[int, ...]
#: Arcs, each once, with the units of a flow that cross it.
Loads = tuple[tuple[int, int], ...]


class LinkCrossings:
    """The links between `usable` nodes as both directions of pairs see them. A path is looked up once and kept.

    Rates are in units of `unit` bit/s; a rate below `least` bit/s is worth nothing (-inf). With `caps` they are parts
    of a whole: a node is worth at most its entry there, and a link at most the part of its capacity that one flow would
    get (bwfactor, Selection 1999, 3.2): behind a stream that fills a link every message waits, however little of the
    link it needs.
    """

    def __init__(
        self,
        pairs: Pairs,
        *,
        unit: float = 1.0,
        least: float = 0.0,
        caps: Sequence[float] | None = None,
    ) -> None:
        self.usable, self.routes = pairs.usable, pairs.routes
        self.links = pairs.topology.links
        self.caps = [math.inf] * len(self.usable) if caps is None else list(caps)
        self._unit, self._least, self._parts = unit, least, caps is not None
        self._pairs: dict[tuple[int, int], Arcs | None] = {}
        self._loads: dict[tuple[int, int], Loads | None] = {}
        self._shares: dict[int, Sharing] = {}
        self._rates: dict[tuple[int, int], float] = {}
        self._accesses: dict[int, list[float]] = {}
        self.units = self._units_of_a_flow()

    def pair(self, a: int, b: int) -> Arcs | None:
        """The link directions that two nodes (places in `usable`) use when they talk both ways, each as often as units
        of the flow cross it; None: no way."""
        key = (a, b) if a < b else (b, a)
        if key not in self._pairs:
            loads = self.loads(*key)
            self._pairs[key] = None if loads is None else tuple(arc for arc, units in loads for _ in range(units))
        return self._pairs[key]

    def loads(self, a: int, b: int) -> Loads | None:
        """As `pair`, each link direction once with its units."""
        key = (a, b) if a < b else (b, a)
        if key not in self._loads:
            ends = self.usable[key[0]].id, self.usable[key[1]].id
            there, back = self.routes.path(*ends), self.routes.path(*ends[::-1])
            self._loads[key] = None if there is None or back is None else (*self._units(there), *self._units(back))
        return self._loads[key]

    def _units(self, path: Path) -> Loads:
        if self.units == 1:
            return tuple((arc, 1) for arc in path.arcs)
        return tuple((arc, round(part * self.units)) for arc, part in path.loads)

    def loads_of(self, pairs: Iterable[tuple[int, int]]) -> dict[int, int] | None:
        """The units of flows on every link direction when these nodes talk both ways; None when a pair has no way."""
        found: dict[int, int] = {}
        for pair in pairs:
            loads = self.loads(*pair)
            if loads is None:
                return None
            for arc, units in loads:
                found[arc] = found.get(arc, 0) + units
        return found

    def _units_of_a_flow(self) -> int:
        """In how many units a flow is counted, so that each of its parts is a whole number of them: one, unless paths
        share a flow (ECMP). O(switches with nodes, squared)."""
        if self.routes.topology.routing.rule != "ecmp":
            return 1
        hops = switch_hops(self.routes.topology)
        if hops is not None:
            return _common(hops.arc_shares.parts)
        places = [self.routes.place[node.id] for node in self.usable]
        alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
        for node, place in zip(self.usable, places, strict=True):
            heads = tuple(self.routes.head[arc] for arc in self.routes.leaving[place])
            tails = tuple(self.routes.tail[arc] for arc in self.routes.arriving[place])
            alike.setdefault((heads, tails), []).append(node.id)
        ends = [name for names in alike.values() for name in names[:2]]
        paths = (self.routes.path(a, b) for a in ends for b in ends if a != b)
        parts = {part for path in paths if path for _, part in path.loads}
        return _common(parts)

    def rate(self, arc: int, flows: int) -> float:
        """What a direction of a link is worth to each of so many flows (or their units), if it binds them all."""
        key = (arc, flows)
        if key not in self._rates:
            enough = self._share(arc).rate(flows / self.units) >= self._least
            self._rates[key] = min(self.share(arc, flows), self._part(arc)) if enough else -math.inf
        return self._rates[key]

    @property
    def ways(self) -> None:
        """No table: paths are looked up one by one."""
        return None

    def lets_through(self, level: float) -> Ints:
        """Nothing, as there is no table."""
        return np.zeros(0, dtype=np.int64)

    def share(self, arc: int, flows: int) -> float:
        """The rate that each of so many flows gets there, whatever one alone would get of the link."""
        return self._share(arc).rate(flows / self.units) / self._unit

    def most_flows(self, arcs: Ints, level: float) -> Floats:
        """How many flows may cross each of the arcs so that every one is worth a level there; not rounded."""
        room, others, others_cap, part = self._columns
        rate = max(level * self._unit, self._least)
        if rate <= 0:
            return np.full(len(arcs), np.inf)
        shared, left = room[arcs] / rate - others[arcs], (room[arcs] - others_cap[arcs]) / rate
        return np.where(part[arcs] >= level, np.maximum(np.maximum(shared, left), 0.0), 0.0)

    def columns_of(self, arcs: Ints) -> tuple[Floats, Floats, Floats]:
        """Of each arc the bit/s that new flows share, the weight of the others there, and what these take at most."""
        room, others, others_cap, _ = self._columns
        return room[arcs], others[arcs], others_cap[arcs]

    @cached_property
    def _columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Of every arc what new flows share, the others' weight, what these take at most, and the part of one flow."""
        room, others, others_cap = (np.repeat(column, 2) for column in sharing_columns(self.links))
        capacity = np.repeat(link_columns(self.routes.topology).capacity, 2)
        part = np.full(len(room), np.inf)
        if self._parts:
            one = room - np.minimum(others_cap, room * others / (others + 1))
            np.divide(one, capacity, out=part, where=capacity > 0)
        return room, others, others_cap, part

    def access(self, node: int, flows: int) -> float:
        """At most what each of so many flows from and to a node gets: what its own links let through, and its cap."""
        if flows not in self._accesses:
            self._accesses[flows] = self._access_of_all(flows)
        return self._accesses[flows][node]

    def _access_of_all(self, flows: int) -> list[float]:
        least = np.array(self.caps, dtype=np.float64)
        for arcs, several in self._ports:
            alone = arcs >= 0
            side = np.full(len(arcs), -np.inf)
            side[alone] = self._rates_of(arcs[alone], flows)
            for node, ways in several.items():  # which of them is used depends on the partner
                side[node] = max(self.rate(arc, 1) for arc in ways)
            least = np.minimum(least, side)
        found: list[float] = least.tolist()
        return found

    @cached_property
    def _ports(self) -> list[tuple[Ints, dict[int, list[int]]]]:
        """Of the arcs out of every node, then of those into it: the only one, else -1; and several ones by node."""
        routes, found = self.routes, []
        places = [routes.place[node.id] for node in self.usable]
        for side in (routes.leaving, routes.arriving):
            own = [side[place] for place in places]
            alone = np.array([arcs[0] if len(arcs) == 1 else -1 for arcs in own], dtype=np.int64)
            found.append((alone, {node: arcs for node, arcs in enumerate(own) if len(arcs) > 1}))
        return found

    def _rates_of(self, arcs: Ints, flows: float) -> Floats:
        """As `rate`, of many arcs with as many flows on each."""
        room, others, others_cap, part = (column[arcs] for column in self._columns)
        shared = (room - np.minimum(others_cap, room * others / (others + flows))) / flows
        return np.where(shared >= self._least, np.minimum(shared / self._unit, part), -np.inf)

    def equivalence_key(self, node: int) -> tuple[object, ...]:
        """Equal for nodes that cannot be told apart: on the same switch by one link with the same figures, and with
        the same cap."""
        return self._keys[node]

    @cached_property
    def _keys(self) -> list[tuple[object, ...]]:
        routes, rules = self.routes, self.routes.topology.routing
        found: list[tuple[object, ...]] = [(node,) for node in range(len(self.usable))]
        if rules.is_fixed or rules.rule == "ecmp-hash":
            return found
        (leaving, _), (arriving, _) = self._ports
        alone = np.flatnonzero((leaving >= 0) & (arriving >= 0))
        out, into = leaving[alone], arriving[alone]
        figures = [column[arcs].tolist() for arcs in (out, into) for column in self._columns[:3]]
        for node, there, back, *each in zip(alone.tolist(), out.tolist(), into.tolist(), *figures, strict=True):
            above = routes.head[there], routes.tail[back]
            if routes.forwards[above[0]] and routes.forwards[above[1]]:
                found[node] = (*above, *each, self.caps[node])
        return found

    def lowest(self, group: Sequence[int], edges: Sequence[tuple[int, int]] | Ints) -> float:
        """The least max-min rate when all edges talk both ways at once, or the least cap; -inf when one has no way.

        All rates rise alike until the first link is full, so the least rate is the least that any link gives to each
        of the flows that cross it.
        """
        load = self.loads_of((group[a], group[b]) for a, b in edges)
        if load is None:
            return -math.inf
        least = min((self.rate(arc, flows) for arc, flows in load.items()), default=math.inf)
        return min(least, *(self.caps[node] for node in group))

    def _part(self, arc: int) -> float:
        return float(self._columns[3][arc])

    def _share(self, arc: int) -> Sharing:
        if arc not in self._shares:
            room, others, others_cap, _ = self._columns
            self._shares[arc] = Sharing(float(room[arc]), float(others[arc]), float(others_cap[arc]))
        return self._shares[arc]


def _common(parts: Iterable[float]) -> int:
    """In how many units a whole is counted so that each of its parts is some of them."""
    return math.lcm(*(Fraction(part).limit_denominator(MOST_PARTS).denominator for part in parts))


def concurrent_rates(
    routes: Routes, names: Sequence[str], edges: Sequence[tuple[int, int]]
) -> list[tuple[FlowRate, FlowRate]]:
    """What every edge gets in each direction when all talk at once, by a flow query."""
    ends = [(names[a], names[b]) for a, b in edges]
    flows = [Flow(*pair) for a, b in ends for pair in ((a, b), (b, a))]
    rates = flow_query(routes.topology, flows, routing=routes)
    return list(zip(rates[::2], rates[1::2], strict=True))
