"""Intervals hold what they should, and grow with the spread."""

from __future__ import annotations

import random
from statistics import fmean

from gridportal.experiments.statistics import estimate


def test_one_value_has_no_spread():
    found = estimate([0.4], random.Random(1))

    assert (found.mean, found.low, found.high, found.n) == (0.4, 0.4, 0.4, 1)


def test_the_interval_holds_the_true_mean_about_19_times_of_20():
    rng = random.Random(7)
    held = 0
    for _ in range(200):
        found = estimate([rng.gauss(10, 3) for _ in range(30)], rng)
        held += found.low <= 10 <= found.high

    assert held > 175


def test_the_mean_is_that_of_the_values():
    values = [1.0, 2.0, 6.0]

    found = estimate(values, random.Random(3))

    assert found.mean == fmean(values)
    assert 1.0 <= found.low <= found.mean <= found.high <= 6.0
