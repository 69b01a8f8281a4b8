"""The network as a value: compute nodes, network nodes (switches, routers) and links, read from a document and checked.

Source: Selection 1999, 3.1 (network topology graph; cpu, maxbw, bw, bwfactor) and Pattern 2003, 2.3
(network status graph of measured pairs). The file format is networkx node-link JSON.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from gridportal.base.errors import InputError
from gridportal.base.name_lists import either
from gridportal.network.node_checks import check_cpus, check_kinds
from gridportal.network.routing_rules import SHORT, RoutingRules, parse_rules

if TYPE_CHECKING:
    import networkx as nx

T = TypeVar("T")
Kind = Literal["links", "pairs"]
_OPTIONAL = ("used", "low", "high", "measured_at", "origin")
_LINK_KEYS = ("source", "target", "capacity", "bandwidth", "latency", *_OPTIONAL)
_GRAPH_KEYS = ("name", "kind", "routing")
_DOCUMENT_KEYS = ("directed", "multigraph", "graph", "nodes", "links")
#: What the portal's own answers, networkx and drawing programs write beside, and what is of no use here.
_LINK_ASIDE = ("key", "id", "label", "age", "through", "made_of")
_DOCUMENT_ASIDE = ("edges", "status", "cluster", "topology", "when", "warning", "left_out")

NAMES = "a name of printable characters without /"


@dataclass(frozen=True, slots=True)
class Node:
    """A compute node or a network node. `cpu` is the available fraction 0..1, `speed` relative to the reference."""

    id: str
    kind: Literal["compute", "network"] = "compute"
    cpu: float = 1.0
    speed: float = 1.0
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def effective_cpu(self) -> float:
        """Available computation of each rank as a fraction of the reference node, whose speed is 1.

        Slots are processors, and `cpu` is what one more process on each processor gets
        (gridportal.base.available_cpu): so it is the same for one rank on the node and for as many as it has slots.
        Source: Selection 1999, 3.3.
        """
        return self.cpu * self.speed


@dataclass(frozen=True, slots=True)
class Link:
    """A link. `capacity` (maxbw) and `bandwidth` (bw, available to one more flow) in bit/s, `latency` in seconds.

    What is known beyond that, each None or "" where it is not: `used`, bit/s that others send over it (byte counters);
    `low` and `high`, between which `bandwidth` was or will be; `measured_at` (Unix seconds) and `origin` of the figure
    (probe, counter, forecast, window).
    """

    source: str
    target: str
    capacity: float
    bandwidth: float
    latency: float = 0.0
    used: float | None = None
    low: float | None = None
    high: float | None = None
    measured_at: float | None = None
    origin: str = ""

    @property
    def bwfactor(self) -> float:
        """The fraction of the peak that is available (Selection 1999, 3.1)."""
        return self.bandwidth / self.capacity

    def parts(self) -> tuple[Link, ...]:
        """The links that it stands for: itself, unless it was made of several (gridportal.network.logical)."""
        return (self,)


@dataclass(frozen=True)
class Topology:
    """A network. With `directed` every link is one direction, else it serves both.

    kind "links": traffic shares links and is forwarded by network nodes.
    kind "pairs": a full crossbar; every link is the private path of one (ordered) pair of compute nodes.
    routing: which of several paths traffic takes (gridportal.network.routes).
    """

    name: str
    directed: bool
    kind: Kind
    nodes: tuple[Node, ...]
    links: Sequence[Link]
    routing: RoutingRules = SHORT
    _derived: dict[Callable[[Topology], Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def compute_nodes(self) -> tuple[Node, ...]:
        """The nodes that ranks can run on, in file order: the same tuple each time."""
        return self._compute_nodes

    @cached_property
    def _compute_nodes(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind == "compute")

    def derived(self, find: Callable[[Topology], T]) -> T:
        """What `find` makes of this topology: found when it is first asked for, and kept with it."""
        if find not in self._derived:
            self._derived[find] = find(self)
        found: T = self._derived[find]
        return found

    def node(self, name: str) -> Node:
        """The node called `name`; InputError when there is none."""
        for node in self.nodes:
            if node.id == name:
                return node
        raise InputError("node", name, "one of " + ", ".join(node.id for node in self.nodes[:20]))

    def to_networkx(self) -> nx.Graph[str]:
        """The same as a networkx graph: a DiGraph if `directed`, a multigraph where two links have the same ends.

        Nodes and edges have the entries of a topology file as attributes. O(nodes + links).
        """
        import networkx as nx  # takes 0.15 s, which most commands need not wait for

        return nx.node_link_graph(dump(self), edges="links")

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], *, name: str = "topology") -> Topology:
        """The topology of a networkx graph with the attributes of a topology file; a graph knows no order of its
        undirected edges, so links may come back in another one, and turned round. Raises InputError as `parse` does.

        >>> import networkx as nx
        >>> Topology.from_networkx(nx.Graph([("a", "b", {"capacity": 1e8})])).links[0].capacity
        100000000.0
        """
        return parse(node_link(graph), name=name)


def parse(document: Any, *, name: str = "topology") -> Topology:
    """Turn a node-link document into a Topology, checking every entry.

    >>> t = parse({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "capacity": 1e8}]})
    >>> t.links[0].bandwidth
    100000000.0
    """
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise InputError("topology", document, "an object with the lists nodes and links")
    raw_links = links_of(document)
    if not isinstance(raw_links, list):
        raise InputError("links", raw_links, "a list of links")
    title, kind, directed = parse_head(document, name)
    check_kinds(document["nodes"], lambda at, _: f"nodes[{at}]")
    nodes = tuple(parse_node(raw, f"nodes[{i}]") for i, raw in enumerate(document["nodes"]))
    nodes_by_id = {node.id: node for node in nodes}
    if len(nodes_by_id) != len(nodes):
        twice = next(n.id for i, n in enumerate(nodes) if nodes_by_id[n.id] is not n)
        raise InputError("node id", twice, "a name that no other node has")
    links = tuple(parse_link(raw, f"links[{i}]", nodes_by_id) for i, raw in enumerate(raw_links))
    kinds = {node.id: node.kind for node in nodes}
    ends = ((link.source, link.target) for link in links)
    routing = parse_rules(rules_of(document), kinds, ends, directed=directed, kind=kind)
    return Topology(title, directed, kind, nodes, links, routing)


def rules_of(document: Mapping[str, Any]) -> Any:
    """What a document says of its routing; None where it says nothing."""
    return (document.get("graph") or {}).get("routing")


def links_of(document: Mapping[str, Any]) -> Any:
    """The links of a node-link document, which networkx called links until 3.3 and calls edges since."""
    return document.get("links", document.get("edges"))


def parse_head(document: Mapping[str, Any], name: str) -> tuple[str, Kind, bool]:
    """Name (`name` where the file has none), kind, and whether links have a direction. Raises InputError."""
    graph = document.get("graph") or {}
    if not isinstance(graph, dict):
        raise InputError("graph", graph, "an object with name and kind")
    _check_keys(document, "the topology", _DOCUMENT_KEYS, _DOCUMENT_ASIDE)
    _check_keys(graph, "graph", _GRAPH_KEYS)
    kind = graph.get("kind", "links")
    if kind not in get_args(Kind):
        raise InputError("graph.kind", kind, "links or pairs")
    directed = document.get("directed", False)
    if not isinstance(directed, bool):
        raise InputError("directed", directed, "true or false, without quotes")
    return str(graph.get("name", name)), cast(Kind, kind), directed


def dump(topology: Topology) -> dict[str, Any]:
    """The node-link document of a topology; `parse(dump(t)) == t`."""
    return {
        "directed": topology.directed,
        "multigraph": _has_parallel_links(topology),
        "graph": {"name": topology.name, "kind": topology.kind, **_routing(topology)},
        "nodes": [{"id": n.id, "kind": n.kind, "cpu": n.cpu, "speed": n.speed, **n.labels} for n in topology.nodes],
        "links": [
            {
                "source": link.source,
                "target": link.target,
                "capacity": link.capacity,
                "bandwidth": link.bandwidth,
                "latency": link.latency,
                **{name: getattr(link, name) for name in _OPTIONAL if getattr(link, name) not in (None, "")},
            }
            for link in topology.links
        ],
    }


def _routing(topology: Topology) -> dict[str, Any]:
    return {} if topology.routing == SHORT else {"routing": topology.routing.document()}


def node_link(graph: nx.Graph[Any]) -> dict[str, Any]:
    """The node-link document of a networkx graph, with the defaults that GraphML gives to its edges and nodes."""
    import networkx as nx

    document: dict[str, Any] = nx.node_link_data(graph, edges="links")
    about = dict(graph.graph)
    for_nodes, for_links = about.pop("node_default", {}), about.pop("edge_default", {})
    document["nodes"] = [{**for_nodes, **node} for node in document["nodes"]]
    document["links"] = [{**for_links, **link} for link in document["links"]]
    return {**document, "graph": about}


def can_be_called(name: str) -> bool:
    """Whether a node can have this name, which is a part of addresses; NAMES says what is accepted."""
    return "/" not in name and name.isprintable()


def parse_node(raw: Any, where: str) -> Node:
    """One entry of `nodes`. Raises InputError that names it as `where`."""
    if not isinstance(raw, dict) or raw.get("id") in (None, ""):
        raise InputError(where, raw, "an object with an id")
    name = str(raw["id"])
    if not can_be_called(name):
        raise InputError(f"{where}.id", name, NAMES)
    kind = raw.get("kind", "compute")
    if kind not in ("compute", "network"):
        raise InputError(f"{where}.kind", kind, "compute or network")
    cpu = _number(raw.get("cpu", 1.0), f"{where}.cpu", low=0.0, high=1.0)
    speed = _number(raw.get("speed", 1.0), f"{where}.speed", low=0.0, open_low=True)
    if kind == "compute":
        check_cpus(raw.get("cpus"), f"{where}.cpus ({name})")
    labels = {str(k): str(v) for k, v in raw.items() if k not in ("id", "kind", "cpu", "speed") and v is not None}
    return Node(name, kind, cpu, speed, labels)


def parse_link(raw: Any, where: str, nodes_by_id: Mapping[str, Node]) -> Link:
    """One entry of `links` between nodes of `nodes_by_id`. Raises InputError that names it as `where`."""
    if not isinstance(raw, dict):
        raise InputError(where, raw, "an object with source, target and capacity")
    _check_keys(raw, where, _LINK_KEYS, _LINK_ASIDE)
    ends = []
    for end in ("source", "target"):
        name = str(raw.get(end))
        if name not in nodes_by_id:
            raise InputError(f"{where}.{end}", raw.get(end), "the id of a node in nodes")
        ends.append(name)
    if ends[0] == ends[1]:
        raise InputError(f"{where}.target", ends[1], "a node other than the source")
    if "capacity" not in raw and "bandwidth" not in raw:
        raise InputError(f"{where}.capacity", None, "the peak bandwidth in bit/s")
    capacity = _number(raw.get("capacity", raw.get("bandwidth")), f"{where}.capacity", low=0.0, open_low=True)
    bandwidth = _number(raw.get("bandwidth", capacity), f"{where}.bandwidth", low=0.0)
    if bandwidth > capacity:
        raise InputError(f"{where}.bandwidth", bandwidth, f"at most the capacity, {capacity:g}")
    latency = _number(raw.get("latency", 0.0), f"{where}.latency", low=0.0)
    optional: dict[str, float | None] = {
        key: _number(raw[key], f"{where}.{key}", low=0.0) for key in ("used", "low", "high") if raw.get(key) is not None
    }
    optional["measured_at"] = parse_time(raw.get("measured_at"), f"{where}.measured_at")
    return Link(ends[0], ends[1], capacity, bandwidth, latency, **optional, origin=str(raw.get("origin") or ""))


def _check_keys(raw: Mapping[Any, Any], where: str, accepted: Sequence[str], aside: Sequence[str] = ()) -> None:
    for key in raw:
        if key not in accepted and key not in aside:
            raise InputError(f"a key of {where}", key, either(accepted))


def _has_parallel_links(topology: Topology) -> bool:
    ends = [(link.source, link.target) for link in topology.links]
    return len({pair if topology.directed else frozenset(pair) for pair in ends}) < len(ends)


def parse_time(value: Any, where: str) -> float | None:
    """Unix seconds, from a number or from a date and time as the REST API writes it."""
    if not isinstance(value, str):
        return None if value is None else _number(value, where, low=0.0)
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError) as error:
        raise InputError(where, value, "Unix seconds, or a date and time such as 2030-01-31T12:00Z") from error


def _number(value: Any, where: str, *, low: float, high: float = math.inf, open_low: bool = False) -> float:
    accepted = f"a number {'above' if open_low else 'from'} {low:g}" + ("" if high == math.inf else f" to {high:g}")
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not low <= value <= min(high, sys.float_info.max)
    ):
        raise InputError(where, value, accepted)
    if open_low and value == low:
        raise InputError(where, value, accepted)
    return float(value)
