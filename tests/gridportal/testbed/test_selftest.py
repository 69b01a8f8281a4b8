"""Which links the Grid tests, and what it says of one that leaks."""

from __future__ import annotations

from gridportal.network.topology import parse
from gridportal.testbed.layout import plan
from gridportal.testbed.selftest import complaint, extremes, off
from tests.gridportal.testbed.networks import chain, crossbar


def test_the_least_and_the_most_shaped_pair_are_tested() -> None:
    rates = {("a", "b"): 50.0, ("b", "a"): 40.0, ("a", "c"): 90.0, ("c", "a"): 60.0, ("b", "c"): 20.0, ("c", "b"): 70.0}
    layout = plan(parse(crossbar(rates)))
    assert extremes(layout, layout.rates) == [("b", "c"), ("a", "c")]


def test_on_links_the_bottleneck_of_the_path_decides() -> None:
    layout = plan(parse(chain()))
    assert extremes(layout, layout.rates) == [("a", "b"), ("a", "c")]


def test_one_pair_is_enough_where_all_are_alike() -> None:
    layout = plan(parse(crossbar({("a", "b"): 50.0, ("b", "a"): 50.0})))
    assert extremes(layout, layout.rates) == [("a", "b")]


def test_a_link_faster_than_shaped_leaks_and_a_slower_one_does_not() -> None:
    link = {"source": "n1", "target": "n2", "shaped": 20e6}
    assert "leaks" in complaint({**link, "measured": 8e9})
    assert "leaks" not in complaint({**link, "measured": 5e6})
    assert "5 Mbit/s where 20" in complaint({**link, "measured": 5e6})


def test_the_distance_is_a_fraction_of_the_shaped_rate() -> None:
    assert abs(off(90e6, 100e6) - 0.1) < 1e-9
