"""The contract monitor over whole runs: whom it calls, what it leaves alone, how its limits move."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import cycle, islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.limits import LEAST_SCALE, STEP, Cause, Limits, Refusal
from scheduling.contracts.core.monitor import Monitor, Signal
from scheduling.contracts.core.monitor_state import MOST_ADJUSTMENTS, MonitorState
from scheduling.contracts.core.outlook import break_even, outlook
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction

GIVEN = Limits()
ratios = st.lists(st.floats(0.01, 40), min_size=1, max_size=150)


def steps(count: int | None, *seconds: float) -> Prediction:
    return Prediction("model", (PhasePrediction("step", count, seconds or (1.0,)),))


def monitor_of(count: int | None = 100, limits: Limits = GIVEN) -> Monitor:
    return Monitor(steps(count), limits)


def run(monitor: Monitor, seconds: Sequence[float], answer: Callable[[Monitor], Refusal] | None = None) -> list[Signal]:
    signals = []
    for each in seconds:
        signals.append(monitor.observe(Phase("step", each)))
        if signals[-1] is Signal.CALL and answer:
            monitor.refuse(answer(monitor))
    return signals


def test_a_run_as_promised_is_left_alone() -> None:
    monitor = monitor_of()
    assert set(run(monitor, [1.0, 1.3, 0.8] * 33)) == {Signal.NONE}
    assert monitor.state.adjustments == []


@pytest.mark.parametrize("slowdown", [2.1, 5.0, 50.0])
def test_a_run_that_is_slow_from_the_start_calls_at_once(slowdown: float) -> None:
    signals = run(monitor_of(), [slowdown] * 5)
    assert Signal.CALL in signals[:2]


def test_a_run_that_is_slowed_down_later_calls_once_the_average_is_above_the_limit() -> None:
    """As in Migration 2003, 6.1: 20 steps as promised, then eleven times as long: (20 + 11 n) / (20 + n) > 2."""
    signals = run(monitor_of(), [1.0] * 20 + [11.0] * 10)
    assert signals.index(Signal.CALL) == 22


def test_a_run_that_is_nearly_done_does_not_call() -> None:
    assert Signal.CALL not in run(monitor_of(), [1.0] * 95 + [8.0] * 5)


@given(st.integers(2, 99), st.floats(2, 1000))
def test_a_single_slow_report_calls_nobody(at: int, seconds: float) -> None:
    slow = [1.0] * 100
    slow[at] = seconds
    assert Signal.CALL not in run(monitor_of(), slow)


@given(ratios)
def test_nobody_is_called_below_the_limits(seconds: list[float]) -> None:
    monitor = monitor_of()
    for each in seconds:
        before = monitor.state.limits.upper
        if monitor.observe(Phase("step", each)) is Signal.CALL:
            assert each > before
            assert (monitor.state.average or 0) > before


@given(ratios, st.floats(0.5, 3), st.floats(0, 60), st.floats(0, 0.5))
def test_raised_limits_never_hide_a_move_that_pays(
    seconds: list[float], speed: float, cost: float, threshold: float
) -> None:
    """Whenever the rest at the average ratio would pay to be moved, the average is above the upper limit."""
    promised, monitor = steps(150), Monitor(steps(150), GIVEN)
    for each in seconds:
        signal = monitor.observe(Phase("step", each))
        view = outlook(promised, monitor.state, monitor.state.clock)
        assert view is not None
        even = break_even(view, ret_new=view.left * speed, cost=cost, threshold=threshold)
        if signal is Signal.CALL and even is not None and view.ratio < even:
            monitor.refuse(Refusal(break_even=even))
        average = monitor.state.average or 0.0
        if even is not None and average > even and average > monitor.base.upper:
            assert average > monitor.state.limits.upper


@given(ratios, st.floats(1.2, 12))
def test_a_slowdown_that_pays_is_asked_for_within_a_pause(seconds: list[float], even: float) -> None:
    """After whatever came before, and refusals of what does not pay: a lasting slowdown that does pay calls."""
    monitor = monitor_of(1000)
    run(monitor, seconds, lambda _: Refusal(break_even=even))
    slow = max(even, monitor.base.upper) * 1.5
    assert Signal.CALL in run(monitor, [max(slow, 10 * each) for each in islice(cycle(seconds), 2000)])


@given(ratios, st.sampled_from([None, 1.0, 3.0, 30.0]))
def test_limits_stay_within_their_bounds(seconds: list[float], even: float | None) -> None:
    monitor, highest = monitor_of(), 0.0
    for each in seconds:
        signal = monitor.observe(Phase("step", each))
        highest = max(highest, each)
        if signal is Signal.CALL:
            monitor.refuse(Refusal(break_even=even))
        limits = monitor.state.limits
        assert LEAST_SCALE * GIVEN.lower <= limits.lower <= GIVEN.lower
        assert limits.lower < limits.upper
        assert monitor.base.upper <= limits.upper <= max(monitor.base.upper, highest * (1 + STEP))
        if even is not None:
            assert limits.upper <= max(even, monitor.base.upper)


def test_the_same_slowdown_is_not_asked_about_again_until_the_refusal_is_over() -> None:
    monitor = monitor_of(1000)
    signals = run(monitor, [3.0] * 200, lambda _: Refusal(break_even=50.0))
    calls = [at for at, signal in enumerate(signals) if signal is Signal.CALL]
    pauses = [later - earlier for earlier, later in pairwise(calls)]
    assert pauses == [51, 101], "5 and 10 % of a run three times as long, and the report that notices it"
    assert {each.cause for each in monitor.state.adjustments} == {Cause.REFUSED, Cause.EXPIRED}


def test_a_refusal_with_an_end_lasts_until_then() -> None:
    monitor = monitor_of(1000)
    signals = run(monitor, [3.0] * 300, lambda _: Refusal(lasting=600.0))
    first, second = [at for at, signal in enumerate(signals) if signal is Signal.CALL][:2]
    assert 600 <= 3 * (second - first) < 612


def test_an_answer_that_never_comes_is_asked_for_again() -> None:
    assert run(monitor_of(1000), [3.0] * 50).count(Signal.CALL) > 2


def test_a_model_that_promises_too_much_time_is_found_out() -> None:
    """A run in a third of the time has limits of a third: back at what was promised, it is three times too slow."""
    monitor = monitor_of()
    assert run(monitor, [0.33] * 30).count(Signal.ADJUSTED) == 1
    assert monitor.state.limits.upper == pytest.approx(0.66)
    assert Signal.CALL in run(monitor, [1.0] * 40)


@given(ratios, st.integers(0, 150))
def test_what_is_kept_is_all_it_needs(seconds: list[float], at: int) -> None:
    """Stopped anywhere, kept as JSON and read again, it goes on as if nothing had been."""
    whole, monitor = monitor_of(), monitor_of()
    expected = run(whole, seconds, lambda _: Refusal())
    first = run(monitor, seconds[:at], lambda _: Refusal())
    kept = MonitorState.read(json.loads(json.dumps(monitor.state.document())))
    resumed = Monitor(steps(100), GIVEN, kept)
    assert first + run(resumed, seconds[at:], lambda _: Refusal()) == expected
    assert resumed.state == whole.state


def test_short_phases_weigh_little() -> None:
    """A phase of a millisecond that takes forty does not make a run slow."""
    promised = Prediction("m", (PhasePrediction("step", 100, (1.0,)), PhasePrediction("tick", 100, (0.001,))))
    monitor = Monitor(promised, GIVEN)
    signals = [monitor.observe(each) for _ in range(100) for each in (Phase("step", 1.0), Phase("tick", 0.04))]
    assert set(signals) == {Signal.NONE}


def test_a_slow_phase_between_fast_ones_calls() -> None:
    promised = Prediction("m", tuple(PhasePrediction(name, 100, (1.0,)) for name in "abc"))
    monitor = Monitor(promised, GIVEN)
    signals = [monitor.observe(Phase(name, 9.0 if name == "b" else 1.0)) for _ in range(10) for name in "abc"]
    assert Signal.CALL in signals[:8]


def test_phases_that_nobody_promised_are_not_judged() -> None:
    monitor = monitor_of()
    assert monitor.observe(Phase("other", 1e6)) is Signal.NONE
    assert (monitor.state.average, monitor.state.reports, monitor.state.judged) == (None, 1, 0)


def test_a_run_that_goes_on_after_a_stop_is_judged_by_its_iterations() -> None:
    """Steps become shorter; the 51st report of the first run is the first of the second."""
    promised = steps(100, 3.0, 1.0)
    monitor = Monitor(promised, GIVEN)
    monitor.observe(Phase("step", 1.0, iteration=51, of=100))
    assert monitor.state.average == 1.0
    view = outlook(promised, monitor.state, 1.0)
    assert view is not None
    assert view.left == pytest.approx(49.0)


def test_a_long_run_costs_no_more_space_than_a_short_one() -> None:
    monitor = monitor_of(100_000)
    run(monitor, [3.0, 1.0, 2.5, 0.2] * 25_000, lambda _: Refusal())
    assert monitor.state.judged == 100_000
    assert len(monitor.state.adjustments) <= MOST_ADJUSTMENTS
    assert len(json.dumps(monitor.state.document())) < 30_000


def test_one_fast_report_is_chance_and_lowers_no_limit() -> None:
    """A short beginning that is over at once says nothing of the steps after it."""
    promised = Prediction("m", (PhasePrediction("init", 1, (1.0,)), PhasePrediction("step", 20, (1.0,))))
    monitor = Monitor(promised, GIVEN)
    signals = [monitor.observe(each) for each in (Phase("init", 0.1), *[Phase("step", 0.9)] * 10)]
    assert set(signals) == {Signal.NONE}
    assert monitor.state.limits == GIVEN
    assert Signal.ADJUSTED in [monitor.observe(Phase("step", 0.1)) for _ in range(10)]
    assert monitor.state.limits.upper < GIVEN.upper
