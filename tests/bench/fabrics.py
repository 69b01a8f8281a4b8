"""Networks of the sizes that clusters have, with noise: fat trees, full bisection or not, and dragonflies."""

from __future__ import annotations

import math
import random

from gridportal.network.routing_rules import RoutingRules, Rule
from gridportal.network.topology import Link, Node, Topology

ACCESS = 1e10


class _Fabric:
    """Collects nodes and links; every link has lost a part of its capacity to others, lognormal."""

    def __init__(self, name: str, noise: float, seed: int) -> None:
        self.name, self.noise, self.rng = name, noise, random.Random(seed)
        self.nodes: list[Node] = []
        self.links: list[Link] = []

    def switch(self, name: str) -> str:
        self.nodes.append(Node(name, "network"))
        return name

    def link(self, a: str, b: str, capacity: float) -> None:
        left = math.exp(-abs(self.rng.gauss(0.0, self.noise))) if self.noise else 1.0
        self.links.append(Link(a, b, capacity, capacity * left))

    def compute(self, count: int, switch: str) -> None:
        for _ in range(count):
            name = f"n{len(self.nodes)}"
            self.nodes.append(Node(name))
            self.link(name, switch, ACCESS)

    def topology(self, rule: Rule = "short") -> Topology:
        return Topology(self.name, False, "links", tuple(self.nodes), tuple(self.links), RoutingRules(rule))


def fat_tree(
    nodes: int, *, each: int = 32, pod: int = 8, taper: float = 1.0, noise: float = 0.3, seed: int = 1
) -> Topology:
    """One thick link up from every switch, with `each` nodes, to one for `pod` switches, and from there to the top.

    taper: how many times less it carries on every level than comes from below; 1 is full bisection."""
    found = _Fabric(f"fat tree 1:{taper:g}", noise, seed)
    top = found.switch("top")
    switches = math.ceil(nodes / each)
    for number in range(switches):
        if number % pod == 0:
            middle = found.switch(f"pod{number // pod}")
            found.link(middle, top, ACCESS * each * pod / taper**2)
        leaf = found.switch(f"leaf{number}")
        found.link(leaf, middle, ACCESS * each / taper)
        found.compute(min(each, nodes - number * each), leaf)
    return found.topology()


def clos(k: int, *, noise: float = 0.3, seed: int = 1, rule: Rule = "ecmp") -> Topology:
    """The k-ary fat tree: k^3/4 nodes, full bisection, many paths."""
    found = _Fabric(f"{k}-ary fat tree, {rule}", noise, seed)
    half = k // 2
    cores = [found.switch(f"core{i}") for i in range(half * half)]
    for pod in range(k):
        ups = [found.switch(f"up{pod}.{i}") for i in range(half)]
        for i, up in enumerate(ups):
            for core in cores[i * half : (i + 1) * half]:
                found.link(up, core, ACCESS)
        for i in range(half):
            edge = found.switch(f"edge{pod}.{i}")
            for up in ups:
                found.link(edge, up, ACCESS)
            found.compute(half, edge)
    return found.topology(rule)


def dragonfly(
    routers: int = 8, each: int = 4, across: int = 4, *, noise: float = 0.3, seed: int = 1, rule: Rule = "short"
) -> Topology:
    """Groups of routers that are all joined, with `each` nodes and `across` links to other groups on every router."""
    found = _Fabric("dragonfly", noise, seed)
    groups = routers * across + 1
    for group in range(groups):
        names = [found.switch(f"r{group}.{i}") for i in range(routers)]
        for i, name in enumerate(names):
            for other in names[:i]:
                found.link(other, name, ACCESS * each)
            found.compute(each, name)
    for one in range(groups):
        for other in range(one):
            ends = (other, one - 1) if other < one else (other - 1, one)
            a = f"r{one}.{ends[0] % (routers * across) // across}"
            b = f"r{other}.{ends[1] % (routers * across) // across}"
            found.link(a, b, ACCESS)
    return found.topology(rule)
