"""Hypothesis strategies for small networks: trees, pairs, cycles; directed or not; with ties, zeros and gaps."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from gridportal.network.topology import Topology, dump, parse

BANDWIDTHS = st.sampled_from([0, 10, 20, 30, 30, 50, 80, 100]) | st.integers(1, 155)
CAPACITIES = st.sampled_from([100, 100, 155, 1000])
CPUS = st.sampled_from([0.1, 0.25, 0.5, 0.5, 0.8, 1.0])
SPEEDS = st.sampled_from([1.0, 1.0, 1.0, 0.5, 2.0])


@st.composite
def nodes(draw, compute: int, network: int) -> list[dict]:
    found = [{"id": f"n{i}", "cpu": draw(CPUS), "speed": draw(SPEEDS)} for i in range(compute)]
    for node in found:
        node["site"] = draw(st.sampled_from(["utk", "uiuc"]))
    return found + [{"id": f"s{i}", "kind": "network"} for i in range(network)]


@st.composite
def links(draw, ends: list[tuple[str, str]], directed: bool) -> list[dict]:
    found = []
    for a, b in ends:
        for u, v in ((a, b), (b, a)) if directed else ((a, b),):
            capacity = draw(CAPACITIES)
            bandwidth = min(draw(BANDWIDTHS), capacity)
            found.append({"source": u, "target": v, "capacity": capacity, "bandwidth": bandwidth})
    return found


def build(raw: list[dict], wires: list[dict], directed: bool, kind: str = "links") -> Topology:
    return parse({"directed": directed, "graph": {"kind": kind}, "nodes": raw, "links": wires})


@st.composite
def trees(draw, max_compute: int = 7, leaves_only: bool = False, may_break: bool = True) -> Topology:
    """A tree (or, when links are missing, a forest); with `leaves_only` compute nodes hang on network nodes."""
    compute, network = draw(st.integers(2, max_compute)), draw(st.integers(1, 4))
    directed = draw(st.booleans())
    switches = [f"s{i}" for i in range(network)]
    ends = [(switches[draw(st.integers(0, i - 1))], switches[i]) for i in range(1, network)]
    for i in range(compute):
        above = switches if leaves_only else switches + [f"n{j}" for j in range(i)]
        ends.append((draw(st.sampled_from(above)), f"n{i}"))
    if may_break:
        lost = draw(st.sets(st.integers(0, len(ends) - 1), max_size=2))
        ends = [end for i, end in enumerate(ends) if i not in lost]
    return build(draw(nodes(compute, network)), draw(links(ends, directed)), directed)


@st.composite
def crossbars(draw, max_compute: int = 7, complete: bool | None = None) -> Topology:
    """Measured pairs, all of them or with gaps, one value for both directions or one each."""
    compute = draw(st.integers(2, max_compute))
    directed = draw(st.booleans())
    ends = [(f"n{i}", f"n{j}") for i in range(compute) for j in range(i + 1, compute)]
    if not (draw(st.booleans()) if complete is None else complete):
        ends = [end for end in ends if draw(st.integers(0, 4))]
    return build(draw(nodes(compute, 0)), draw(links(ends, directed)), directed, "pairs")


@st.composite
def meshes(draw, max_compute: int = 6) -> Topology:
    """Anything: cycles through network nodes, nodes with several links, one-way links, parallel links."""
    compute, network = draw(st.integers(2, max_compute)), draw(st.integers(1, 3))
    directed = draw(st.booleans())
    names = [f"n{i}" for i in range(compute)] + [f"s{i}" for i in range(network)]
    pairs = [(a, b) for a in names for b in names if a < b]
    ends = draw(st.lists(st.sampled_from(pairs), min_size=compute, max_size=3 * len(names)))
    wires = draw(links(ends, directed))
    if directed and len(wires) > 3:
        lost = draw(st.sets(st.integers(0, len(wires) - 1), max_size=3))
        wires = [wire for i, wire in enumerate(wires) if i not in lost]
    return build(draw(nodes(compute, network)), wires, directed)


def networks(max_compute: int = 6) -> st.SearchStrategy[Topology]:
    return (
        trees(max_compute)
        | trees(max_compute, leaves_only=True)
        | crossbars(max_compute)
        | crossbars(max_compute, complete=True)
        | meshes(max_compute)
    )


@st.composite
def routed(draw, max_compute: int = 6) -> Topology:
    """Any network, by any rule, with fixed paths and forwarding tables for some of it."""
    topology = draw(networks(max_compute))
    if topology.kind == "pairs":
        return topology
    rule = draw(st.sampled_from(["short", "ecmp", "ecmp-hash"]))
    rng = random.Random(draw(st.integers(0, 1000)))
    tables = _tables(topology, rng) if draw(st.booleans()) else {}
    paths = _paths(topology, rng) if draw(st.booleans()) else []
    graph = {"kind": "links", "routing": {"rule": rule, "paths": paths, "tables": tables}}
    return parse({**dump(topology), "graph": graph})


def _neighbours(topology: Topology) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {node.id: [] for node in topology.nodes}
    for link in topology.links:
        found[link.source].append(link.target)
        if not topology.directed:
            found[link.target].append(link.source)
    return found


def _tables(topology: Topology, rng: random.Random) -> dict[str, dict[str, str]]:
    """Of some switches: to every target that they reach, by a random tree that is rooted there."""
    beside, kinds = _neighbours(topology), {node.id: node.kind for node in topology.nodes}
    switches = [name for name, kind in kinds.items() if kind == "network"]
    tables: dict[str, dict[str, str]] = {name: {} for name in switches if rng.random() < 0.7}
    for target in (node.id for node in topology.compute_nodes()):
        joined = [target]
        while True:
            steps = [(a, b) for a in switches if a not in joined for b in beside[a] if b in joined]
            if not steps:
                break
            here, there = rng.choice(steps)
            joined.append(here)
            if here in tables:
                tables[here][target] = there
    return tables


def _paths(topology: Topology, rng: random.Random) -> list[list[str]]:
    """Random ways between some pairs."""
    beside, kinds = _neighbours(topology), {node.id: node.kind for node in topology.nodes}
    names = [node.id for node in topology.compute_nodes()]
    found: dict[tuple[str, str], list[str]] = {}
    for _ in range(3):
        way = rng.sample(names, 2)
        path, target = way[:1], way[1]
        while path[-1] != target:
            steps = [name for name in beside[path[-1]] if name not in path]
            steps = [name for name in steps if name == target or kinds[name] == "network"]
            if not steps:
                break
            path.append(rng.choice(steps))
        if path[-1] == target:
            found[way[0], way[1]] = path
    return list(found.values())
