"""Counters between probes: what is used is taken from the peak of the right link, in the right direction."""

from __future__ import annotations

from gridportal.network.topology import Link, Node, Topology
from monitoring.history.core.samples import Sample
from monitoring.telemetry.core.counters import between_probes

NODES = (Node("a"), Node("b"), Node("s", "network"))


def tree(*, directed: bool) -> Topology:
    ways = [("a", "s"), ("b", "s")] + ([("s", "a"), ("s", "b")] if directed else [])
    return Topology("t", directed, "links", NODES, tuple(Link(x, y, 100.0, 100.0) for x, y in ways))


def counted(*rates: tuple[str, str, float], at: float = 5.0) -> list[Sample]:
    return [Sample(subject, metric, at, value) for subject, metric, value in rates]


def left(topology: Topology, samples: list[Sample], **options: object) -> dict[tuple[str, str], float]:
    return {ends: figure.value for ends, figure in between_probes(topology, samples, **options).items()}  # type: ignore[arg-type]


def test_each_direction_has_what_its_own_counter_leaves() -> None:
    found = left(tree(directed=True), counted(("a:eth0", "tx", 30.0), ("a:eth0", "rx", 60.0)))
    assert found == {("a", "s"): 70.0, ("s", "a"): 40.0}


def test_a_link_for_both_directions_has_what_the_fuller_one_leaves() -> None:
    assert left(tree(directed=False), counted(("a:eth0", "tx", 30.0), ("a:eth0", "rx", 60.0))) == {("a", "s"): 40.0}


def test_more_than_the_peak_leaves_nothing() -> None:
    assert left(tree(directed=True), counted(("a:eth0", "tx", 130.0))) == {("a", "s"): 0.0}


def test_with_two_interfaces_only_what_is_told_is_known() -> None:
    rates = counted(("a:eth0", "tx", 30.0), ("a:eth1", "tx", 60.0))
    assert left(tree(directed=True), rates) == {}
    assert left(tree(directed=True), rates, interfaces={"a": {"eth1": "s"}}) == {("a", "s"): 40.0}


def test_a_direction_that_is_named_needs_no_interface_and_other_metrics_say_nothing() -> None:
    found = left(tree(directed=True), counted(("s>b", "tx", 10.0), ("a", "cpu", 0.5), ("nobody:eth0", "tx", 1.0)))
    assert found == {("s", "b"): 90.0}


def test_of_several_samples_the_newest_counts_with_its_time() -> None:
    samples = [*counted(("a:eth0", "tx", 20.0), at=9.0), *counted(("a:eth0", "tx", 80.0), at=4.0)]
    figure = between_probes(tree(directed=True), samples)[("a", "s")]
    assert (figure.value, figure.at, figure.origin) == (80.0, 9.0, "counter")
