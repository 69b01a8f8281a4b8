"""The contract monitor: each report of a phase is held against what was promised, at constant cost.

Source: Migration 2003, 4.2, 6.1 and 7. A ratio above the upper limit calls the rescheduler when the average of all so
far is above it too; a ratio below the lower limit adapts the limits when the average is below it too. The average
weighs each ratio by its predicted seconds, so that a phase of a millisecond does not count as much as one of an hour.

What the paper leaves open:
- a call needs a second report above the limit, at most a round through the phases before, and reports of `SETTLING` of
  the predicted time: one slow report, of whatever length, is a disturbance; so is one fast report for the limits;
- after a call nobody asks again for `PAUSE` of the time that the run is expected to take; a call without an answer is
  made again then;
- limits that a refusal raised fall back after `PATIENCE` of that time, twice as long with each refusal;
- a report that is overdue counts before it comes (`silence.py`), once for each report that came.

Time is what the reports add up to, so that the same reports give the same calls, whenever and in whatever pieces they
are read; only a silence depends on when that is. Where nobody knows how long a run takes these shares are of what was
reported so far.
"""

from __future__ import annotations

from enum import StrEnum

from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.limits import Cause, Limits, Refusal, after_faster, after_refusal
from scheduling.contracts.core.monitor_state import Call, MonitorState, is_second
from scheduling.contracts.core.outlook import outlook
from scheduling.contracts.core.phase_ratio import PhaseRatio
from scheduling.contracts.core.silence import broken_by_silence, with_silence
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction

#: Shares of the time of the whole run: as it was predicted; the others as it is expected by now.
SETTLING, PAUSE, PATIENCE = 0.02, 0.01, 0.05
#: A raised limit is kept for so many times its patience at most.
_MOST_PATIENCE = 16
#: Predicted seconds below which a phase is not judged: its ratio would say nothing.
_LEAST_SECONDS = 1e-6


class Signal(StrEnum):
    """What came of a report."""

    NONE = "none"
    ADJUSTED = "adjusted"
    CALL = "call"


class Monitor:
    """Judges the reports of one run against a prediction; what it knows is in `state`, which may be kept between.

    >>> promised = Prediction("a model", (PhasePrediction("step", 100, (1.0,)),))
    >>> monitor = Monitor(promised, Limits())
    >>> [monitor.observe(Phase("step", seconds)).value for seconds in (1.0, 1.1, 9.0, 9.0)]
    ['none', 'none', 'none', 'call']
    >>> monitor.refuse(Refusal(break_even=6.0))
    >>> monitor.state.limits.upper
    6.0
    """

    def __init__(self, promised: Prediction, limits: Limits, state: MonitorState | None = None) -> None:
        self.promised, self._given = promised, limits
        self.state = state or MonitorState(limits=limits)
        self._phases = {each.phase: each for each in promised.phases}
        self._total = promised.total

    @property
    def base(self) -> Limits:
        """The limits without what refusals raised."""
        return self._given.scaled(self.state.scale)

    def observe(self, report: Phase) -> Signal:
        """Count a report in, and say what it gives occasion for."""
        state = self.state
        state.reports += 1
        state.clock += report.seconds
        state.last_at = max(state.last_at, report.at)
        promised = self._phases.get(report.name)
        if promised is None:
            return Signal.NONE
        seconds = _count(state.phases.setdefault(report.name, PhaseRatio()), promised, report)
        if seconds < _LEAST_SECONDS:
            return Signal.NONE
        state.judged += 1
        state.actual += report.seconds
        state.predicted += seconds
        state.last_ratio = report.seconds / seconds
        expired = self._expire()
        return self._judge(report, seconds, state.last_ratio, state.actual / state.predicted) or expired

    def overdue(self, quiet: float, at: float) -> Signal:
        """Judge `quiet` seconds without a report, now at the Unix time `at`; only a call is kept.

        >>> promised = Prediction("a model", (PhasePrediction("step", 100, (1.0,)),))
        >>> monitor = Monitor(promised, Limits())
        >>> monitor.observe(Phase("step", 1.0)).value
        'none'
        >>> [monitor.overdue(quiet, 0.0).value for quiet in (3.0, 5.0, 5.1, 60.0)]
        ['none', 'none', 'call', 'none']
        """
        state = self.state
        silence = broken_by_silence(self.promised, state, quiet, state.limits.upper)
        if silence is None or state.called == state.reports:
            return Signal.NONE
        then = with_silence(state, silence)
        if not self._may_call(then.clock):
            return Signal.NONE
        call = Call(state.reports, at, then.clock, silence.phase, silence.promised, quiet, average=then.average or 0.0)
        return self._called(call, then)

    def refuse(self, refusal: Refusal, quiet: float = 0.0) -> None:
        """The rescheduler declined, `quiet` seconds after the last report: the limits adapt."""
        state = self.state
        silence = broken_by_silence(self.promised, state, quiet, self.base.upper)
        then = with_silence(state, silence) if silence else state
        state.call = None
        state.refusals += 1
        expected = self._expected_run(then)
        patience = PATIENCE * expected * min(2 ** (state.refusals - 1), _MOST_PATIENCE)
        state.quiet_until = then.clock + PAUSE * expected
        state.raised_until = then.clock + max(patience, refusal.lasting or 0.0)
        state.adjust(after_refusal(self.base, self._seen(then), refusal), Cause.REFUSED)

    def _judge(self, report: Phase, promised: float, ratio: float, average: float) -> Signal | None:
        limits = self.state.limits
        if ratio > limits.upper:
            again = is_second(self.state.above, self.state.judged, len(self._phases))
            self.state.above = self.state.judged
            return self._call(report, promised, average) if again and average > limits.upper else None
        if ratio < limits.lower:
            again = is_second(self.state.below, self.state.judged, len(self._phases))
            self.state.below = self.state.judged
            return self._accelerate(average) if again and average < limits.lower else None
        return None

    def _call(self, report: Phase, promised: float, average: float) -> Signal | None:
        state = self.state
        if not self._may_call(state.clock):
            return None
        call = Call(state.reports, state.last_at, state.clock, report.name, promised, report.seconds, average=average)
        return self._called(call, state)

    def _may_call(self, clock: float) -> bool:
        return clock >= max(self.state.quiet_until, SETTLING * (self._total or 0.0))

    def _called(self, call: Call, then: MonitorState) -> Signal:
        """Keep the call, made in the state `then`."""
        state = self.state
        state.quiet_until = call.clock + PAUSE * self._expected_run(then)
        state.call, state.called = call, state.reports
        state.calls += 1
        return Signal.CALL

    def _accelerate(self, average: float) -> Signal | None:
        scale = after_faster(average, self.state.scale)
        if scale >= self.state.scale:
            return None
        self.state.scale = scale
        self.state.raised_until = None
        self.state.adjust(self.base, Cause.FASTER)
        return Signal.ADJUSTED

    def _expire(self) -> Signal:
        state = self.state
        if state.raised_until is None or state.clock < state.raised_until:
            return Signal.NONE
        state.raised_until = None
        state.adjust(self.base, Cause.EXPIRED)
        return Signal.ADJUSTED

    def _expected_run(self, state: MonitorState) -> float:
        """Seconds of the whole run as it goes now; of what was reported where nobody knows how long it takes."""
        return state.clock if self._total is None else self._total * max(1.0, self._seen(state))

    def _seen(self, state: MonitorState) -> float:
        """The average ratio, or the one that is expected of the rest where that is higher."""
        view = outlook(self.promised, state, state.clock)
        return max(state.average or 0.0, view.ratio if view else 0.0)


def _count(phase: PhaseRatio, promised: PhasePrediction, report: Phase) -> float:
    """Count it into its phase; the seconds that were promised of it."""
    count, share = promised.count, phase.share
    if report.iteration and report.of:
        share = report.iteration / report.of
        middle = (report.iteration - 0.5) / report.of
    elif count:
        share, middle = (phase.count + 1) / count, (phase.count + 0.5) / count
    else:
        middle = 0.0
    seconds = promised.at(max(middle, 0.0))
    phase.share = min(max(share, phase.share), 1.0)
    if seconds >= _LEAST_SECONDS:
        phase.add(report.seconds, seconds, count)
    return seconds
