"""How far a run is, and how long it still takes: percentage complete, refined expected time, ret_current, ret_new.

Source: Migration 2003, 6.2 and 7. Complete is the share of the predicted work that is done: elapsed over refined time
would call a run that was slowed down hardly begun.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.performance.core.phase_prediction import Prediction

#: A run is silent once its next report is overdue by so much, in seconds at least.
_LEAST_SILENCE = 30.0


class Standing(StrEnum):
    """How a contract stands. SLOW: the last ratio is above the upper limit and the average is not."""

    WAITING = "waiting"
    KEPT = "kept"
    FASTER = "faster"
    SLOW = "slow"
    VIOLATED = "violated"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Outlook:
    """Seconds; `complete` 0..1; left: predicted seconds of what is not done; ratio: to be expected of that.

    refined: expected seconds of the whole run; remaining: of what is left of it, the paper's ret_current.
    """

    complete: float
    left: float
    ratio: float
    elapsed: float

    @property
    def remaining(self) -> float:
        """ret_current."""
        return self.left * self.ratio

    @property
    def refined(self) -> float:
        """Elapsed, and what remains."""
        return self.elapsed + self.remaining


def outlook(promised: Prediction, state: MonitorState, elapsed: float) -> Outlook | None:
    """How a run goes on that has run for `elapsed` seconds; None where nobody knows how much work it has.

    What is left of each phase takes its own expected ratio; a phase that was not reported yet that of the whole.

    >>> from scheduling.contracts.core.phase_ratio import PhaseRatio
    >>> from scheduling.performance.core.phase_prediction import PhasePrediction
    >>> state = MonitorState(phases={"step": PhaseRatio(5, 0.5, 20.0, 5.0)}, actual=20.0, predicted=5.0)
    >>> view = outlook(Prediction("m", (PhasePrediction("step", 10, (1.0,)),)), state, 21.0)
    >>> view.complete, view.remaining, view.refined
    (0.5, 20.0, 41.0)
    """
    total = promised.total
    if not total:
        return None
    left = {each.phase: (each.total or 0.0) - each.done(_share(state, each.phase)) for each in promised.phases}
    remaining = math.fsum(seconds * _ratio(state, phase) for phase, seconds in left.items())
    all_left = math.fsum(left.values())
    ratio = remaining / all_left if all_left > 0 else state.average or 1.0
    return Outlook(complete=1 - all_left / total, left=all_left, ratio=ratio, elapsed=elapsed)


def remaining_now(promised: Prediction, state: MonitorState, view: Outlook, quiet: float) -> float:
    """What remains `quiet` seconds after the last report: it counts down until the next, by what that takes at most.

    >>> from scheduling.performance.core.phase_prediction import PhasePrediction
    >>> promised, state = Prediction("m", (PhasePrediction("step", 10, (2.0,)),)), MonitorState()
    >>> view = Outlook(complete=0.0, left=20.0, ratio=1.0, elapsed=1.5)
    >>> remaining_now(promised, state, view, 1.5), remaining_now(promised, state, view, 60.0)
    (18.5, 18.0)
    """
    return max(0.0, view.remaining - min(quiet, next_report(promised, state)))


def next_report(promised: Prediction, state: MonitorState) -> float:
    """Seconds that the next report takes at most, as the run goes on; 0 where none is to come.

    >>> from scheduling.performance.core.phase_prediction import PhasePrediction
    >>> next_report(Prediction("m", (PhasePrediction("step", 10, (2.0, 3.0)),)), MonitorState())
    3.0
    """
    open_phases = [each for each in promised.phases if _share(state, each.phase) < 1]
    return max((max(each.seconds) * _ratio(state, each.phase) for each in open_phases), default=0.0)


def remaining_elsewhere(view: Outlook, prediction_total: float) -> float:
    """ret_new: the share of the predicted work that is not done, times the predicted seconds on the new nodes."""
    return (1 - view.complete) * prediction_total


def break_even(view: Outlook, ret_new: float, cost: float, threshold: float) -> float | None:
    """The ratio of the rest from which a move pays: where the gain is exactly the threshold. None: nothing is left.

    gain = (ret_current - (ret_new + cost)) / ret_current, and ret_current is `left` times the ratio.

    >>> break_even(Outlook(complete=0.5, left=100.0, ratio=2.0, elapsed=0.0), ret_new=100.0, cost=40.0, threshold=0.3)
    2.0
    """
    return (ret_new + cost) / (1 - threshold) / view.left if view.left > 0 else None


def standing(promised: Prediction, state: MonitorState, given: Limits, quiet: float) -> Standing:
    """How the contract stands; `quiet`: seconds since the last report, or since the run began.

    By the limits that were given: a run that gets less than it was promised does so also while a refusal lasts.
    """
    average, ratio, limits = state.average, state.last_ratio, given.scaled(state.scale)
    if quiet > overdue_after(promised, state):
        return Standing.SILENT
    if average is None or ratio is None:
        return Standing.WAITING
    if average > limits.upper:
        return Standing.VIOLATED
    if ratio > limits.upper:
        return Standing.SLOW
    return Standing.FASTER if average < 1 and state.scale < 1 else Standing.KEPT


def overdue_after(promised: Prediction, state: MonitorState) -> float:
    """Seconds without a report after which a run is silent: twice the longest that it may take within its limits.

    The longest of all reports to come, slowed down as the run is now or up to the upper limit, whichever is more.
    """
    ratio = max(state.limits.upper, state.average or 0.0)
    longest = max((max(each.seconds) for each in promised.phases if _share(state, each.phase) < 1), default=0.0)
    return max(_LEAST_SILENCE, 2 * ratio * longest)


def _share(state: MonitorState, phase: str) -> float:
    known = state.phases.get(phase)
    return known.share if known else 0.0


def _ratio(state: MonitorState, phase: str) -> float:
    known = state.phases.get(phase)
    expected = known.expected if known else None
    return expected if expected is not None else state.average or 1.0
