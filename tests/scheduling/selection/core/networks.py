"""Hypothesis strategies for small networks: trees, pairs, cycles; directed or not; with ties, zeros and gaps."""

from __future__ import annotations

from hypothesis import strategies as st

from gridportal.network.topology import Topology, parse

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
