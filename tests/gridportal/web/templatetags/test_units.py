"""Figures as pages show them."""

from __future__ import annotations

import pytest

from gridportal.web.templatetags.units import NOTHING, age_text, counting, duration, milli


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, NOTHING), (0.0, "0.00"), (4.2e-6, "0.004"), (1.52e-5, "0.02"), (0.0421, "42.10"), (2e-9, "0.00")],
)
def test_a_latency_of_microseconds_is_not_shown_as_none(seconds, shown):
    assert milli(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(3.0, "now"), (-3.0, "now"), (42.0, "42 s ago"), (-42.9, "in 42 s"), (7300.0, "2 h ago"), (-864000.0, "in 10 d")],
)
def test_a_time_to_come_is_not_now(seconds, shown):
    assert age_text(seconds) == shown


def test_a_time_of_whole_minutes_hours_or_days_has_no_zero_beside_it():
    told = [duration(seconds) for seconds in (59.96, 1200.0, 1201.0, 3600.0, 3660.0, 259200.0, 262800.0)]
    assert told == ["60.0 s", "20 min", "20 min 1 s", "1 h", "1 h 01 min", "3 d", "3 d 1 h"]
    told = [counting(seconds) for seconds in (59, 60, 61, 3600, 3660)]
    assert told == ["59 s", "1 min", "1 min 1 s", "1 h", "1 h 1 min"]
