"""Slow is not dead: what counts against a process, by a clock and looks that are arguments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gridportal.serve.progress import STUCK_AFTER, STUCK_AT_START, Progress, Sample
from gridportal.serve.watching import Clock

LOOK = 0.5  # seconds between two looks


def looked(progress: Progress, seconds: float, samples) -> Progress:
    """`progress` after looks for so long; `samples` makes the sample of each from the seconds gone by."""
    for number in range(int(seconds / LOOK) + 1):
        progress.observe(samples(number * LOOK), LOOK)
    return progress


def test_a_blocked_process_is_stuck_after_a_minute() -> None:
    assert not looked(Progress(), STUCK_AFTER - 1, lambda _: Sample(7)).is_stuck
    assert looked(Progress(), STUCK_AFTER, lambda _: Sample(7)).is_stuck


def test_one_that_spins_on_a_processor_without_a_round_is_stuck_as_well() -> None:
    assert looked(Progress(), STUCK_AFTER, lambda _: Sample(7, {1: 0.0}, state="R")).is_stuck


def test_one_that_waits_for_a_processor_is_slow_and_never_stuck() -> None:
    starved = looked(Progress(), 3600, lambda at: Sample(7, {1: at, 2: 0.1}, state="R"))
    assert starved.is_slow
    assert not starved.is_stuck


def test_one_that_gets_a_tenth_of_a_processor_has_ten_times_as_long() -> None:
    progress = looked(Progress(), 9 * STUCK_AFTER, lambda at: Sample(7, {1: 0.9 * at}, state="R"))
    assert not progress.is_stuck
    assert looked(progress, 2 * STUCK_AFTER, lambda at: Sample(7, {1: 0.9 * (at + 600)}, state="R")).is_stuck


def test_one_whose_memory_comes_back_from_the_disk_is_not_stuck() -> None:
    assert not looked(Progress(), 3600, lambda at: Sample(7, {}, faults=int(at / LOOK))).is_stuck
    assert not looked(Progress(), 3600, lambda at: Sample(7, {}, state="D")).is_stuck


def test_one_that_somebody_stopped_is_stuck_and_one_that_goes_on_in_time_is_not() -> None:
    assert looked(Progress(), STUCK_AFTER, lambda at: Sample(7, {1: 3.0}, state="T")).is_stuck
    resumed = looked(Progress(), STUCK_AFTER - 1, lambda at: Sample(7, state="T"))
    resumed.observe(Sample(8), LOOK)
    assert not resumed.is_slow
    assert not resumed.is_stuck


def test_one_that_is_still_starting_has_longer() -> None:
    assert not looked(Progress(), STUCK_AT_START - 1, lambda _: Sample(None)).is_stuck
    assert looked(Progress(), STUCK_AT_START, lambda _: Sample(None)).is_stuck


def test_one_that_waits_for_somebody_else_is_counted_anew() -> None:
    progress = looked(Progress(), STUCK_AFTER, lambda _: Sample(7))
    progress.forgive()
    assert not progress.is_stuck
    assert progress.is_slow, "which people hear all the same"


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50))
def test_a_machine_that_slept_or_a_supervisor_that_was_kept_from_looking_ends_nobody(gaps: list[float]) -> None:
    """However long the gaps between looks, no fewer than 30 of them end a process."""
    clock, progress, now = Clock(), Progress(), 0.0
    for gap in gaps[:29]:
        now += gap
        progress.observe(Sample(7), clock.elapsed(now))
    assert not progress.is_stuck


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_a_round_a_minute_is_enough(beats: list[bool]) -> None:
    progress, rounds = Progress(), 1
    for beat in beats:
        rounds += beat
        progress.observe(Sample(rounds), LOOK)
        assert progress.silent == 0 if beat else True
        assert progress.stalled <= LOOK * len(beats)
