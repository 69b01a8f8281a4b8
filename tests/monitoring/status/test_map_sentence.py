"""The sentence over the map."""

from __future__ import annotations

import pytest

from monitoring.status.charts.network_map import Wire, finding


def test_where_every_link_is_free_none_is_the_slowest() -> None:
    free = [Wire("a", "s", 1e8, 1e8), Wire("b", "s", 1e8, 9.96e7)]
    assert finding(free) == "All 2 links offer what they can."
    assert finding(free, past=True) == "All 2 links offered what they could."
    assert finding([*free, Wire("c", "s", 1e8, 9e7)]).startswith("c–s is the slowest: 90 of 100 Mbit/s")


@pytest.mark.parametrize(
    ("rate", "rest"),
    [
        (49.9e6, "49.9 of 100 Mbit/s; 1 of 2 links offers less than half of its peak."),
        (50e6, "50 of 100 Mbit/s; all 2 links offer at least half of their peak."),
        (49.96e6, "50 of 100 Mbit/s; all 2 links offer at least half of their peak."),
    ],
)
def test_what_is_less_than_half_is_told_by_the_rates_that_are_shown(rate: float, rest: str) -> None:
    assert finding([Wire("a", "s", 1e8, rate), Wire("b", "s", 1e8, 1e8)]) == f"a–s is the slowest: {rest}"
