"""The logical topology: the part of a network that matters for a set of nodes, chains of switches drawn as one link.

Source: Selection 1999, 2.2: the logical network topology presents a functional snapshot of the relevant part of the
network; figure 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gridportal.base.errors import InputError
from gridportal.network.routes import Core, Path, Routes, Spread
from gridportal.network.routing_rules import SHORT, RoutingRules
from gridportal.network.topology import Link, Topology, dump, parse


@dataclass(frozen=True, slots=True)
class LogicalLink(Link):
    """A link that stands for a chain of `made_of`: the least capacity and bandwidth, the sum of the latencies, the
    oldest measurement. `through`: the network nodes inside the chain, from source to target."""

    made_of: tuple[Link, ...] = ()
    through: tuple[str, ...] = ()

    def parts(self) -> tuple[Link, ...]:
        """The links of the chain: traffic that is there already is known of each, not of the chain as a whole."""
        return self.made_of or (self,)


@dataclass(frozen=True, slots=True)
class Logical:
    """A logical topology and how it is routed: `path` is as in gridportal.network.routes, so that flow queries take it.

    left_out: how many network nodes, compute nodes and links of the whole topology do not matter.
    """

    topology: Topology
    ways: Mapping[tuple[str, str], Path]
    left_out: tuple[int, int, int]

    def path(self, source: str, target: str) -> Path | None:
        """The way between two of the chosen nodes: what their path in the whole network became."""
        return self.ways.get((source, target))


def logical_topology(topology: Topology, nodes: Sequence[str]) -> Logical:
    """What of `topology` the traffic among the compute nodes `nodes` can meet.

    Kept are the chosen nodes, every link on a path between two of them, and network nodes where paths part or join;
    a network node with two neighbours on such paths becomes part of a link. Branches without chosen nodes, and links
    that static routing does not use, are left out. Where no file could say how traffic goes on these links, every
    switch on a path is kept; and where that is not enough, because a hash chooses among parallel links, all links from
    which it chooses, as they are. A flow query for flows among the chosen nodes gives on the logical topology
    (`routing=` the answer itself, or by the topology's own `routing`) the same rates as on the whole one; a link of it
    shows the least bandwidth of its chain, but keeps the links that it stands for, because the traffic that is there
    may yield on one of them and not on another.
    Cost: m^2 paths for m nodes. Raises InputError for a node that is no compute node or is named twice.

    >>> from gridportal.network.topology import parse
    >>> chain = parse({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "s", "kind": "network"},
    ...     {"id": "t", "kind": "network"}], "links": [{"source": x, "target": y, "capacity": w, "latency": 0.25}
    ...     for x, y, w in (("a", "s", 9), ("s", "t", 4), ("t", "b", 9), ("s", "c", 9))]})
    >>> (link,) = logical_topology(chain, ["a", "b"]).topology.links
    >>> link.source, link.target, link.capacity, link.latency, link.through
    ('a', 'b', 4.0, 0.75, ('s', 't'))
    """
    _check(topology, nodes)
    routes = Routes(topology)
    ways = {(a, b): path for a in nodes for b in nodes if a != b and (path := routes.path(a, b)) is not None}
    small, translated = _drawn(routes, ways, nodes, _kept(routes, ways, nodes))
    rules = _rules(small, translated, topology.routing)
    if rules is None:
        every = {end for path in ways.values() for arc, _ in path.loads for end in (routes.tail[arc], routes.head[arc])}
        small, translated = _drawn(routes, ways, nodes, every)
        rules = _rules(small, translated, topology.routing)
    arcs = {arc for path in ways.values() for arc, _ in path.loads}
    if rules is None:
        arcs |= _choices(routes, ways)
        small, translated = _as_it_is(routes, ways, nodes, arcs)
        rules = _whole_rules(small, ways, topology.routing)
    network = sum(node.kind == "network" for node in topology.nodes)
    met = {routes.head[arc] for arc in arcs if routes.forwards[routes.head[arc]]}
    used = {arc >> 1 for arc in arcs}
    left_out = (network - len(met), len(topology.nodes) - network - len(nodes), len(topology.links) - len(used))
    return Logical(replace(small, routing=rules), translated, left_out)


def _drawn(
    routes: Routes, ways: Mapping[tuple[str, str], Path], nodes: Sequence[str], kept: set[int]
) -> tuple[Topology, dict[tuple[str, str], Path]]:
    """The topology in which everything between two kept nodes is one link, and the paths there."""
    chains = _Chains(routes, kept)
    translated = {ends: chains.translate(path) for ends, path in ways.items()}
    links = tuple(chains.link(arcs) for arcs in chains.found)
    inside = {*nodes, *(end for link in links for end in (link.source, link.target))}
    topology = routes.topology
    shown = tuple(node for node in topology.nodes if node.id in inside)
    return replace(topology, nodes=shown, links=links, routing=SHORT), translated


def _choices(routes: Routes, ways: Mapping[tuple[str, str], Path]) -> set[int]:
    """All arcs from which the rule chooses on the way of a pair that has no fixed path."""
    core, found = Core(routes), set[int]()
    for source, target in set(ways) - set(routes.topology.routing.paths):
        b = routes.place[target]
        reached, todo = {b}, [routes.place[source]]
        while todo:
            arcs = core.following(todo.pop(), b)
            found.update(arcs)
            todo += {routes.head[arc] for arc in arcs} - reached
            reached.update(todo)
    return found


def _as_it_is(
    routes: Routes, ways: Mapping[tuple[str, str], Path], nodes: Sequence[str], arcs: set[int]
) -> tuple[Topology, dict[tuple[str, str], Path]]:
    """The topology of these links, in their order, and the paths there."""
    topology, kept = routes.topology, sorted({arc >> 1 for arc in arcs})
    place = {link: at for at, link in enumerate(kept)}
    links = tuple(topology.links[link] for link in kept)
    inside = {*nodes, *(end for link in links for end in (link.source, link.target))}
    shown = tuple(node for node in topology.nodes if node.id in inside)

    def there(path: Path) -> Path:
        new = {arc: 2 * place[arc >> 1] + (arc & 1) for arc, _ in path.loads}
        spread = tuple((new[arc], part) for arc, part in path.spread)
        return Path(tuple(new[arc] for arc in path.arcs), path.several, spread)

    translated = {ends: there(path) for ends, path in ways.items()}
    return replace(topology, nodes=shown, links=links, routing=SHORT), translated


def _whole_rules(topology: Topology, ways: Mapping[tuple[str, str], Path], whole: RoutingRules) -> RoutingRules:
    """The whole network's rules as far as they are about these pairs and switches."""
    paths = {ends: whole.paths[ends] for ends in ways if ends in whole.paths}
    return RoutingRules(whole.rule, paths, _tables(topology, whole))


def _rules(topology: Topology, ways: Mapping[tuple[str, str], Path], whole: RoutingRules) -> RoutingRules | None:
    """Rules by which every pair goes its way, for whoever has only the file of the topology: the short rule where that
    is enough, else the path of each pair that has one, else the whole network's rules as far as they are about these
    switches; None where none of them says it."""
    if topology.kind == "pairs":
        return SHORT
    routes = Routes(topology)
    paths = {ends: routes.nodes(ends[0], path) for ends, path in ways.items() if not path.spread}
    tables = _tables(topology, whole)
    rules = (SHORT, RoutingRules(whole.rule, paths), RoutingRules(whole.rule), RoutingRules(whole.rule, paths, tables))
    return next((each for each in rules if _says(topology, each, ways)), None)


def _says(topology: Topology, rules: RoutingRules, ways: Mapping[tuple[str, str], Path]) -> bool:
    """Whether a file with these rules has these ways and no others."""
    document = dump(replace(topology, routing=rules))
    try:
        stated = Routes(parse(document))
    except InputError:  # of parallel links a path cannot say which
        return False
    chosen = {name for ends in ways for name in ends}
    pairs = ((a, b) for a in chosen for b in chosen if a != b)
    return all(_loads(stated.path(*ends)) == _loads(ways.get(ends)) for ends in pairs)


def _tables(topology: Topology, whole: RoutingRules) -> dict[str, dict[str, str]]:
    """What the switches that are drawn forward to nodes that are drawn, by links that are."""
    names = {node.id for node in topology.nodes}
    steps = {(link.source, link.target) for link in topology.links}
    steps |= set() if topology.directed else {(b, a) for a, b in steps}
    return {
        name: {target: to for target, to in table.items() if target in names and (name, to) in steps}
        for name, table in whole.tables.items()
        if name in names
    }


def _loads(path: Path | None) -> dict[int, float]:
    return {} if path is None else {arc: round(part, 9) for arc, part in path.loads}


def _check(topology: Topology, nodes: Sequence[str]) -> None:
    compute = [node.id for node in topology.compute_nodes()]
    for name in nodes:
        if name not in compute:
            raise InputError("nodes", name, "the name of a compute node: " + ", ".join(compute[:20]))
    twice = next((name for at, name in enumerate(nodes) if name in nodes[:at]), None)
    if twice is not None:
        raise InputError("nodes", twice, "each node once")
    if not nodes:
        raise InputError("nodes", None, "at least one compute node")


def _kept(routes: Routes, ways: Mapping[tuple[str, str], Path], nodes: Iterable[str]) -> set[int]:
    """The places of the nodes that are not inside a chain: a chain goes on where every path that comes from one of
    exactly two neighbours, by one link, goes to the other."""
    beside: dict[int, set[tuple[int, int]]] = {}
    for path in ways.values():
        for arc, _ in path.loads:
            beside.setdefault(routes.tail[arc], set()).add((routes.head[arc], arc >> 1))
            beside.setdefault(routes.head[arc], set()).add((routes.tail[arc], arc >> 1))
    chosen = {routes.place[name] for name in nodes}
    return {node for node, ends in beside.items() if node in chosen or len(_wires(routes, ends)) != 2}


def _wires(routes: Routes, ends: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The neighbours by different wires; on directed topologies the two directions of one wire are two links."""
    return {(node, 0) for node, _ in ends} if routes.topology.directed else ends


class _Chains:
    """Cuts paths at the nodes that are kept, and gives every chain in between one link of the logical topology."""

    def __init__(self, routes: Routes, kept: set[int]) -> None:
        self.routes, self.kept = routes, kept
        self.found: list[tuple[int, ...]] = []
        self.place: dict[tuple[int, ...], int] = {}

    def translate(self, path: Path) -> Path:
        arcs, chain = [], []
        for arc in path.arcs:
            chain.append(arc)
            if self.routes.head[arc] in self.kept:
                arcs.append(self._arc(tuple(chain)))
                chain = []
        return Path(tuple(arcs), path.several, self._spread(path))

    def _spread(self, path: Path) -> Spread:
        """Inside a chain nothing parts or joins, so all its links carry the same part of the flow."""
        inside = {self.routes.tail[arc]: arc for arc, _ in path.spread if self.routes.tail[arc] not in self.kept}
        found = []
        for arc, part in path.spread:
            if self.routes.tail[arc] in self.kept:
                chain = [arc]
                while self.routes.head[chain[-1]] not in self.kept:
                    chain.append(inside[self.routes.head[chain[-1]]])
                found.append((self._arc(tuple(chain)), part))
        return tuple(found)

    def _arc(self, chain: tuple[int, ...]) -> int:
        if chain in self.place:
            return 2 * self.place[chain]
        back = tuple(arc ^ 1 for arc in reversed(chain))
        if back in self.place:
            return 2 * self.place[back] + 1
        self.place[chain] = len(self.found)
        self.found.append(chain)
        return 2 * self.place[chain]

    def link(self, chain: tuple[int, ...]) -> Link:
        """One link for a chain; a chain of one link stays that link."""
        links = [self.routes.topology.links[arc >> 1] for arc in chain]
        if len(links) == 1:
            return links[0] if not chain[0] & 1 else replace(links[0], source=links[0].target, target=links[0].source)
        names = self.routes.nodes(self.routes.topology.nodes[self.routes.tail[chain[0]]].id, Path(chain))
        measured = [link.measured_at for link in links]
        ends = [(link.low, link.high) for link in links]
        return LogicalLink(
            names[0],
            names[-1],
            min(link.capacity for link in links),
            min(link.bandwidth for link in links),
            sum(link.latency for link in links),
            low=None if all(low is None for low, _ in ends) else min(_or(x.low, x.bandwidth) for x in links),
            high=None if all(high is None for _, high in ends) else min(_or(x.high, x.bandwidth) for x in links),
            measured_at=None if None in measured else min(at for at in measured if at is not None),
            origin=", ".join(sorted({link.origin for link in links} - {""})),
            made_of=tuple(links),
            through=names[1:-1],
        )


def _or(value: float | None, instead: float) -> float:
    return instead if value is None else value
