"""What a silence says: a report that is overdue has taken so long already, whatever it will say when it comes.

Source: Migration 2003, 4.2 and 6.1, which judge the times of phases once they are over. On a node with twenty busy
processes that is many times too late. Ours: `quiet` seconds without a report are held against what is promised as if
just now they had been reported:

- after a slow report, at most a round through the phases before, they are one report, the second above the limit;
- else they are two reports of half of that, so that one slow report of twice the limit is a disturbance as before.

What was promised is that of the longest report that may come, and at least of as many as have come at once of late,
for a log may be written in pieces. So nothing is called slow before the same reports would have been. Cost: O(phases
x points of their course).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

from scheduling.contracts.core.monitor_state import MonitorState, is_second
from scheduling.contracts.core.phase_ratio import PhaseRatio
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction


@dataclass(frozen=True, slots=True)
class Silence:
    """It stands for `reports` reports of `phase`, of so many seconds each where at most `promised` were promised."""

    phase: str
    promised: float
    seconds: float
    reports: int


def broken_by_silence(promised: Prediction, state: MonitorState, quiet: float, upper: float) -> Silence | None:
    """What `quiet` seconds without a report stand for, where these ratios and the average are above `upper`; else None.

    Also None before the first report was judged, for nobody promises how long a start takes; once all promised phases
    are done; and where nobody knows how often a phase is reported.

    >>> promised = Prediction("m", (PhasePrediction("step", 100, (1.0,)),))
    >>> state = MonitorState(phases={"step": PhaseRatio(10, 0.1, 10.0, 10.0)}, judged=10, actual=10.0, predicted=10.0)
    >>> broken_by_silence(promised, state, 14.0, 2.0), broken_by_silence(promised, state, 14.1, 2.0)
    (None, Silence(phase='step', promised=1.0, seconds=7.05, reports=2))
    """
    longest = _longest(promised, state) if state.judged and promised.total is not None else None
    if longest is None:
        return None
    phase, expected = longest[1], max(longest[0], state.batch)
    reports = 1 if is_second(state.above, state.judged + 1, len(promised.phases)) else 2
    average = (state.actual + quiet) / (state.predicted + reports * expected)
    found = Silence(phase, expected, quiet / reports, reports)
    return found if min(found.seconds / expected, average) > upper else None


def with_silence(state: MonitorState, silence: Silence) -> MonitorState:
    """The state as if these reports had come; how much of the run is done stays as it is."""
    ratio = copy(state.phases.get(silence.phase) or PhaseRatio())
    done = ratio.count
    for _ in range(silence.reports):
        ratio.add(silence.seconds, silence.promised, None)
    ratio.count = done
    seconds = silence.reports * silence.seconds
    return replace(
        state,
        phases={**state.phases, silence.phase: ratio},
        clock=state.clock + seconds,
        actual=state.actual + seconds,
        predicted=state.predicted + silence.reports * silence.promised,
    )


def _longest(promised: Prediction, state: MonitorState) -> tuple[float, str] | None:
    """Promised seconds and phase of the longest report that may be one of the next two."""
    found = [(seconds, each.phase) for each in promised.phases if (seconds := _next(each, state)) > 0]
    return max(found, default=None)


def _next(promised: PhasePrediction, state: MonitorState) -> float:
    ratio = state.phases.get(promised.phase)
    share = ratio.share if ratio else 0.0
    if not promised.count or share >= 1:
        return 0.0
    last = len(promised.seconds) - 1
    ends = (min(int(at * len(promised.seconds)), last) for at in (share, share + 2 / promised.count))
    first, until = ends
    return max(promised.seconds[first : until + 1])
