"""When a process that died is started again, told by a clock that is an argument."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gridportal.serve.restarts import FORGOTTEN_AFTER, LONGEST_PAUSE, Restarts


def test_two_deaths_a_second_and_a_half_apart_cost_a_pause_of_a_second() -> None:
    restarts = Restarts()
    assert restarts.note_death(100.0) == 0
    assert restarts.is_due(100.0)
    restarts.note_start()
    assert not restarts.is_due(101.5), "it runs"
    assert restarts.note_death(101.5) == 1
    assert not restarts.is_due(102.4)
    assert restarts.is_due(102.5)


def test_a_death_that_is_seen_twice_counts_once() -> None:
    restarts = Restarts()
    restarts.note_death(0.0)
    restarts.note_death(5.0)
    assert restarts.total == restarts.recent == 1


def test_deaths_are_forgotten_and_still_counted_in_all() -> None:
    restarts = Restarts()
    for at in range(5):
        restarts.note_death(float(at))
        restarts.note_start()
    assert restarts.note_death(5 + FORGOTTEN_AFTER) == 0
    assert restarts.total == 6


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=200))
def test_whatever_happens_it_is_due_again_within_the_longest_pause(gaps: list[float]) -> None:
    restarts, now = Restarts(), 0.0
    for gap in gaps:
        now += gap
        assert 0 <= restarts.note_death(now) <= LONGEST_PAUSE
        now += LONGEST_PAUSE
        assert restarts.is_due(now)
        restarts.note_start()
