"""A report that is overdue counts before it comes, and never earlier than reports of the same ratios would."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.limits import Limits, Refusal
from scheduling.contracts.core.monitor import Monitor, Signal
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.outlook import outlook
from scheduling.contracts.core.silence import broken_by_silence, with_silence
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction

ratios = st.lists(st.floats(0.05, 30), min_size=1, max_size=60)
courses = st.lists(st.floats(0.1, 10), min_size=1, max_size=5).map(tuple)


def steps(count: int | None = 100, *seconds: float) -> Prediction:
    return Prediction("model", (PhasePrediction("step", count, seconds or (1.0,)),))


def after(promised: Prediction, seconds: list[float]) -> Monitor:
    """A monitor of reports in turn of all phases, so many times as long as the first second of each."""
    monitor = Monitor(promised, Limits())
    for at, each in enumerate(seconds):
        phase = promised.phases[at % len(promised.phases)]
        if monitor.observe(Phase(phase.phase, each * phase.seconds[0])) is Signal.CALL:
            monitor.refuse(Refusal())
    return monitor


def call_at(promised: Prediction, monitor: Monitor, ratio: float, *, by_silence: bool) -> float:
    """Seconds until a run calls that is slowed down now; looked at each tenth of a second, silence or not."""
    step, clock = ratio * promised.phases[0].seconds[0], 0.0
    while clock < 100_000:
        ticks = int(step * 10)
        for tick in range(1, ticks) if by_silence else ():
            if monitor.overdue(tick / 10, 0.0) is Signal.CALL:
                return clock + tick / 10
        clock += step
        if monitor.observe(Phase("step", step)) is Signal.CALL:
            return clock
    raise AssertionError("never")


@given(ratios, courses, courses, st.floats(0, 500), st.integers(0, 1))
def test_silence_calls_nobody_whom_reports_of_that_time_would_not_call(
    seconds: list[float], first: tuple[float, ...], second: tuple[float, ...], quiet: float, which: int
) -> None:
    promised = Prediction("m", (PhasePrediction("a", 40, first), PhasePrediction("b", 40, second)))
    monitor = after(promised, seconds)
    reported, state = deepcopy(monitor), monitor.state
    if monitor.overdue(quiet, 0.0) is Signal.CALL:
        silence = broken_by_silence(promised, state, quiet, state.limits.upper)
        assert silence is not None
        name = promised.phases[which].phase
        signals = [reported.observe(Phase(name, silence.seconds)) for _ in range(silence.reports)]
        assert Signal.CALL in signals


@given(st.integers(2, 60), st.floats(2.5, 6), st.floats(1, 20))
def test_a_heavy_load_calls_about_as_early_as_a_light_one(done: int, light: float, times: float) -> None:
    """At the latest two reports of the light one later, however long a report takes."""
    promised = steps(1000, 3.0)
    early, late = (after(promised, [1.0] * done) for _ in range(2))
    by_reports = call_at(promised, early, light, by_silence=False)
    assert call_at(promised, late, light * times, by_silence=True) <= by_reports + 2 * 3.0 * light


def test_reports_alone_call_late_and_silence_does_not() -> None:
    """Ten steps of 6 s as promised, then twenty processes beside each rank: the second report comes after 252 s."""
    promised = steps(100, 6.0)
    by_reports, by_silence = (after(promised, [1.0] * 10) for _ in range(2))
    assert call_at(promised, by_reports, 21.0, by_silence=False) == 252.0
    assert call_at(promised, by_silence, 21.0, by_silence=True) == pytest.approx(84.1)


@given(st.integers(1, 99), st.floats(0, 4))
def test_a_short_disturbance_calls_nobody(done: int, quiet: float) -> None:
    assert after(steps(), [1.0] * done).overdue(quiet, 0.0) is Signal.NONE


@given(st.integers(5, 90), st.floats(0, 1))
def test_the_average_has_to_be_above_the_limit_too(done: int, part: float) -> None:
    assert after(steps(), [1.0] * done).overdue(part * done, 0.0) is Signal.NONE


def test_a_slow_report_and_one_that_is_overdue_are_two() -> None:
    alone, confirmed = after(steps(), [1.0] * 5), after(steps(), [1.0] * 4 + [9.0])
    assert alone.overdue(4.0, 0.0) is Signal.NONE
    assert [confirmed.overdue(quiet, 0.0) for quiet in (2.0, 2.1)] == [Signal.NONE, Signal.CALL]


@pytest.mark.parametrize(
    ("promised", "seconds"), [(steps(), []), (steps(None), [1.0] * 5), (steps(5), [1.0] * 5)], ids=str
)
def test_silence_says_nothing_before_the_first_report_or_without_an_end_or_behind_it(
    promised: Prediction, seconds: list[float]
) -> None:
    assert after(promised, seconds).overdue(1e6, 0.0) is Signal.NONE


def test_what_comes_in_pieces_is_awaited_for_as_long_as_a_piece() -> None:
    """A log that is written each 60 s, 60 steps of a second at once."""
    monitor = after(steps(1000), [1.0] * 60)
    monitor.state.heard(1000.0, 60.0)
    assert [monitor.overdue(quiet, 0.0) for quiet in (70.0, 300.0, 300.1)] == [Signal.NONE] * 2 + [Signal.CALL]
    pieces = [monitor.state.batch]
    for at in range(12):
        monitor.state.heard(1000.0 + at, 1.0)
        pieces.append(monitor.state.batch)
    assert all(later <= earlier for earlier, later in pairwise(pieces))
    assert pieces[-1] == 1.0


@given(ratios, st.lists(st.floats(0, 1e6), max_size=50))
def test_a_silence_calls_once_and_keeps_no_more_than_before(seconds: list[float], quiets: list[float]) -> None:
    monitor = after(steps(), seconds)
    calls, size = monitor.state.calls, len(json.dumps(monitor.state.document()))
    signals = [monitor.overdue(quiet, 0.0) for quiet in sorted(quiets)]
    assert signals.count(Signal.CALL) == monitor.state.calls - calls <= 1
    assert len(json.dumps(monitor.state.document())) < size + 400
    assert MonitorState.read(json.loads(json.dumps(monitor.state.document()))) == monitor.state


def test_who_refused_is_not_asked_again_for_the_same_silence() -> None:
    monitor = after(steps(1000), [1.0] * 20)
    assert monitor.overdue(60.0, 0.0) is Signal.CALL
    monitor.refuse(Refusal(), quiet=61.0)
    assert monitor.state.limits.upper > 3.3, "a tenth above what the silence came to"
    assert monitor.overdue(1000.0, 0.0) is Signal.NONE
    assert monitor.observe(Phase("step", 62.0)) is Signal.NONE


def test_the_rest_is_expected_to_be_as_slow_as_the_silence() -> None:
    promised = steps(100, 2.0)
    state = after(promised, [1.0] * 10).state
    silence = broken_by_silence(promised, state, 60.0, 2.0)
    assert silence is not None
    before, then = (outlook(promised, each, 0.0) for each in (state, with_silence(state, silence)))
    assert before is not None
    assert then is not None
    assert (then.complete, then.left) == (before.complete, before.left), "nothing of it is done"
    assert then.ratio > 3 * before.ratio
