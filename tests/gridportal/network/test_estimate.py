"""From measured pairs to links: never below what was measured, exact where a link is the slowest of a path."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gridportal.network import topology as core
from gridportal.network import topology_files
from gridportal.network.estimate import link_bandwidths, path_links
from gridportal.network.sweep_result import PairRate


def tree(seed: int, computes: int, switches: int) -> core.Topology:
    """A random tree of switches with compute nodes as leaves, and random available bandwidth on each link."""
    rng = random.Random(seed)
    nodes = [core.Node(f"s{i}", "network") for i in range(switches)] + [core.Node(f"n{i}") for i in range(computes)]
    ends = [(f"s{i}", f"s{rng.randrange(i)}") for i in range(1, switches)]
    ends += [(f"n{i}", f"s{rng.randrange(switches)}") for i in range(computes)]
    ends = [end if rng.random() < 0.5 else end[::-1] for end in ends]
    links = tuple(core.Link(a, b, 100.0, float(rng.randint(1, 100))) for a, b in ends)
    return core.Topology("tree", False, "links", tuple(nodes), links)


def measured(topology: core.Topology) -> list[PairRate]:
    """What a perfect sweep sees: the slowest link of each path."""
    available = {(link.source, link.target): link.bandwidth for link in topology.links}
    names = [node.id for node in topology.compute_nodes()]
    return [
        PairRate(a, b, min(available[link] for link in path_links(topology, a, b)))
        for a in names
        for b in names
        if a != b
    ]


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 5))
def test_on_trees_the_estimates_give_back_every_measured_pair_exactly(seed: int, computes: int, switches: int) -> None:
    topology = tree(seed, computes, switches)
    pairs = measured(topology)
    found = link_bandwidths(topology, pairs)
    for pair in pairs:
        along = [found[link] for link in path_links(topology, pair.source, pair.target)]
        assert min(along) == pair.bandwidth
    for link in topology.links:
        ends = (link.source, link.target)
        if ends in found:
            assert found[ends] <= link.bandwidth


@given(st.integers(0, 10_000), st.data())
def test_with_noise_no_path_promises_less_than_was_measured_on_it(seed: int, data: st.DataObject) -> None:
    topology = tree(seed, 4, 3)
    pairs = [PairRate(p.source, p.target, p.bandwidth * data.draw(st.floats(0.5, 1.0))) for p in measured(topology)]
    found = link_bandwidths(topology, pairs)
    for pair in pairs:
        along = [found[link] for link in path_links(topology, pair.source, pair.target)]
        assert min(along) >= pair.bandwidth


def test_a_link_that_is_the_slowest_of_some_path_is_exact() -> None:
    topology = tree(7, 6, 4)
    pairs = measured(topology)
    available = {(link.source, link.target): link.bandwidth for link in topology.links}
    found = link_bandwidths(topology, pairs)
    binding = [min(path_links(topology, p.source, p.target), key=lambda link: available[link]) for p in pairs]
    assert all(found[link] == available[link] for link in binding)


def crossbar() -> core.Topology:
    nodes = tuple(core.Node(name) for name in "abc")
    links = tuple(core.Link(a, b, 100.0, 100.0) for a in "abc" for b in "abc" if a != b)
    return core.Topology("crossbar", True, "pairs", nodes, links)


def test_on_a_crossbar_each_direction_is_its_own_link() -> None:
    found = link_bandwidths(crossbar(), [PairRate("a", "b", 30.0), PairRate("b", "a", 70.0)])
    assert found == {("a", "b"): 30.0, ("b", "a"): 70.0}


def test_an_estimate_is_never_above_the_peak() -> None:
    assert link_bandwidths(crossbar(), [PairRate("a", "b", 104.0)]) == {("a", "b"): 100.0}


def test_paths_do_not_lead_through_compute_nodes() -> None:
    nodes = tuple(core.Node(name) for name in "abc")
    links = (core.Link("a", "b", 1.0, 1.0), core.Link("b", "c", 1.0, 1.0))
    chain = core.Topology("chain", False, "links", nodes, links)
    assert path_links(chain, "a", "c") == []
    assert link_bandwidths(chain, [PairRate("a", "c", 1.0)]) == {}


def test_the_shipped_network_has_the_paths_of_figure_4() -> None:
    from pathlib import Path

    import gridportal.testbed

    shipped = topology_files.load(Path(gridportal.testbed.__file__).parent / "topologies" / "cmu8.json")
    way = path_links(shipped, "m-1", "m-8")
    assert len(way) >= 3
    assert {"m-1"} < {end for link in way for end in link}


def trunk(wide: float) -> core.Topology:
    """Two nodes on each side of a link that is wider than theirs."""
    nodes = [*(core.Node(n) for n in "abcd"), core.Node("s", "network"), core.Node("t", "network")]
    links = [core.Link(a, b, 100, 100) for a, b in ("as", "bs", "tc", "td")] + [core.Link("s", "t", wide, wide)]
    return core.Topology("trunk", False, "links", tuple(nodes), tuple(links))


def test_a_trunk_that_never_held_anybody_counts_as_idle() -> None:
    found = link_bandwidths(trunk(300), [PairRate(*pair, 98.0) for pair in ("ac", "bd", "ab", "cd")])
    assert found["s", "t"] == 300


def test_a_trunk_that_may_have_held_somebody_does_not() -> None:
    pairs = [PairRate("a", "c", 60.0), PairRate("b", "d", 60.0), PairRate("a", "b", 98.0), PairRate("c", "d", 98.0)]
    assert link_bandwidths(trunk(300), pairs)["s", "t"] == 60
