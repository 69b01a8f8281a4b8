"""The sentence over the map."""

from __future__ import annotations

from monitoring.status.charts.network_map import Wire, finding


def test_where_every_link_is_free_none_is_the_slowest() -> None:
    free = [Wire("a", "s", 1e8, 1e8), Wire("b", "s", 1e8, 9.96e7)]
    assert finding(free) == "All 2 links offer what they can."
    assert finding(free, past=True) == "All 2 links offered what they could."
    assert finding([*free, Wire("c", "s", 1e8, 9e7)]).startswith("c–s is the slowest: 90 of 100 Mbit/s")
