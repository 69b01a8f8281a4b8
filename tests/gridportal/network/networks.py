"""Random networks for the tests of routes, flow queries and logical topologies."""

from __future__ import annotations

import random

from gridportal.network.topology import Link, Node, Topology

CAPACITY = 100.0


def random_network(seed: int, *, cycles: int = 0, directed: bool = False, kind: str = "links") -> Topology:
    """A tree of up to eight switches with up to seven compute nodes, `cycles` more links, and links in any state."""
    rng = random.Random(seed)
    switches, computes = rng.randint(1, 8), rng.randint(2, 7)
    names = [f"n{i}" for i in range(computes)]
    if kind == "pairs":
        ends = [(a, b) for a in names for b in names if a < b]
        switches = 0
    else:
        ends = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, switches)]
        ends += [(name, f"s{rng.randrange(switches)}") for name in names]
        everywhere = [f"s{i}" for i in range(switches)] + names
        ends += [tuple(rng.sample(everywhere, 2)) for _ in range(cycles)]
    if directed:
        ends += [(b, a) for a, b in ends]
    rng.shuffle(ends)
    nodes = [*(Node(name) for name in names), *(Node(f"s{i}", "network") for i in range(switches))]
    return Topology("random", directed, kind, tuple(nodes), tuple(_link(rng, a, b) for a, b in ends))  # type: ignore[arg-type]


def _link(rng: random.Random, a: str, b: str) -> Link:
    bandwidth = float(rng.randint(1, 100))
    used = rng.choice([None, CAPACITY - bandwidth, CAPACITY, rng.uniform(0, CAPACITY)])
    return Link(a, b, CAPACITY, bandwidth, rng.choice([0.0, 0.001]), used=used)


def fat_tree(k: int) -> Topology:
    """The usual k-ary fat tree: k^3/4 compute nodes, all links alike, many shortest paths."""
    half = k // 2
    nodes = [Node(f"core{i}", "network") for i in range(half * half)]
    links = []
    for pod in range(k):
        for i in range(half):
            nodes += [Node(f"up{pod}.{i}", "network"), Node(f"edge{pod}.{i}", "network")]
            links += [Link(f"up{pod}.{i}", f"core{i * half + j}", CAPACITY, CAPACITY) for j in range(half)]
            links += [Link(f"edge{pod}.{i}", f"up{pod}.{j}", CAPACITY, CAPACITY) for j in range(half)]
            for j in range(half):
                nodes.append(Node(f"n{pod}.{i}.{j}"))
                links.append(Link(nodes[-1].id, f"edge{pod}.{i}", CAPACITY, CAPACITY))
    return Topology("fat tree", False, "links", tuple(nodes), tuple(links))


def ask(seed: int, topology: Topology, most: int = 8) -> list[tuple[str, str]]:
    """Random pairs of compute nodes."""
    rng = random.Random(seed)
    names = [node.id for node in topology.compute_nodes()]
    return [tuple(rng.sample(names, 2)) for _ in range(rng.randint(1, most))]  # type: ignore[misc]


def dumbbell(**middle: float) -> Topology:
    """a, b - s - t - c, d with a middle link of 100 and wide links at the ends."""
    nodes = [*(Node(n) for n in "abcd"), Node("s", "network"), Node("t", "network")]
    links = [Link("a", "s", 1000, 1000), Link("b", "s", 1000, 1000), Link("t", "c", 1000, 1000)]
    links += [Link("t", "d", 1000, 1000), Link("s", "t", **({"capacity": 100, "bandwidth": 100} | middle))]  # type: ignore[arg-type]
    return Topology("dumbbell", False, "links", tuple(nodes), tuple(links))
