"""Labels of an axis never stand on each other, and its ends are always told."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as some

from scheduling.jobs.core.speedup import curve
from scheduling.pages.charts import scaling_curve
from scheduling.pages.charts.axis_labels import spread

PLACES = some.lists(some.integers(0, 1000), min_size=2, max_size=20, unique=True).map(sorted)


@given(places=PLACES)
def test_labels_have_room_and_none_is_missing_that_had_some(places: list[int]) -> None:
    kept = [place for place, keep in zip(places, spread(places), strict=True) if keep]
    room = 0.09 * (places[-1] - places[0])
    assert {places[0], places[-1]} <= set(kept)
    assert all(later - earlier >= room for earlier, later in itertools.pairwise(kept))
    assert all(min(abs(place - other) for other in kept) < room for place in places if place not in kept)


def test_numbers_of_ranks_that_are_near_each_other_are_not_all_written() -> None:
    points = curve({ranks: 100.0 / ranks + ranks for ranks in (1, 2, 3, 4, 5, 6, 7, 8, 12, 14, 16, 24, 28, 32)})
    axis = scaling_curve.figure(points)["layout"]["xaxis"]
    written = [text for text in axis["ticktext"] if text]
    assert len(axis["ticktext"]) == len(axis["tickvals"]) == 14
    assert (written[0], written[-1]) == ("1", "32")
    assert str(next(point.ranks for point in points if point.is_knee)) in written
    assert len(written) < 12
