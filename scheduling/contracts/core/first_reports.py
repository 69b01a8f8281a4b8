"""The first reports of a run as its promise, where no model and no past run says more.

Only on nodes that have nothing else to do: else a run that is slow from its start would be as promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from gridportal.runtime.progress_events import Phase
from scheduling.performance.core.phase_prediction import MOST_PHASES, PhasePrediction, Prediction

FIRST_REPORTS = "first-reports"
#: So many reports of one phase are a promise.
ENOUGH = 8
#: Of a node with so much of its processors free the first reports count.
IDLE = 0.8

Seconds = dict[str, list[float]]


def collect(seconds: Seconds, report: Phase) -> bool:
    """Count a report in; whether there are enough. Of each phase the first few are kept, and of so many phases."""
    if report.name in seconds or len(seconds) < MOST_PHASES:
        kept = seconds.setdefault(report.name, [])
        kept.extend([report.seconds] if len(kept) < ENOUGH else [])
    return any(len(each) >= ENOUGH for each in seconds.values())


def promise(seconds: Mapping[str, Sequence[float]], reports: Sequence[Phase]) -> Prediction:
    """The median of each phase; how many reports there will be as far as `reports` told that.

    >>> reports = [Phase("step", 2.0, iteration=1, of=50)]
    >>> promise({"step": [2.0, 2.1, 9.0], "read": [1.0]}, reports).phases
    (PhasePrediction(phase='step', count=50, seconds=(2.1,)),)
    """
    told = {each.name: each.of for each in reports if each.of}
    repeated = {name: each for name, each in seconds.items() if len(each) > 1}
    return Prediction(
        FIRST_REPORTS, tuple(PhasePrediction(name, told.get(name), (median(each),)) for name, each in repeated.items())
    )
