"""A performance model fitted from past runs: medians of the same run, else a line through the logarithms.

Runs of the same parameters on the same number of ranks come first: the prediction is the median of their times, each
times the speed that its slowest node had, over the speed of the slowest node now. Where there is none, log(seconds) is
a linear function of the logarithms of ranks and of those parameters that differ, fitted by least squares in which runs
that lie far off weigh less (Huber, Ann. Math. Statist. 35 (1964) 73), as one that was slowed down by others does. A
parameter called seed says nothing about time.

Does not promise: anything beyond twice what was seen of a figure, of texts that nobody ran, or that time goes with the
speed of processors where it goes with the network. Its error is measured: each run predicted from the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from gridportal.base.checked_numbers import is_number
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction

FITTED, PAST_RUNS = "fitted", "past-runs"
#: A figure may be so many times above or below what was seen of it.
_BEYOND = 2.0
#: Residuals above so many times the median one weigh less.
_HUBER, _ROUNDS = 1.5, 8
_RIDGE = 1e-6
_SEED = "seed"
#: Of a processor that has nothing free a program gets a little all the same.
LEAST_CPU = 0.01
#: Least seconds, so that there is a logarithm.
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class PastPhase:
    """A phase of a past run: its reports, the average seconds of one, and their course in shares of the average."""

    count: int
    mean: float
    course: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, slots=True)
class RunShape:
    """What decides how long a run takes. `figures`: parameters that are numbers; `texts`: all others; capacity: the
    effective cpu of its slowest node, above 0."""

    figures: Mapping[str, float]
    texts: Mapping[str, str]
    ranks: int
    capacity: float = 1.0

    @classmethod
    def of(cls, parameters: Mapping[str, object], ranks: int, capacity: float | None) -> RunShape:
        """From the parameters of a job."""
        figures = {name: float(each) for name, each in parameters.items() if name != _SEED and is_finite(each)}
        texts = {name: str(each) for name, each in parameters.items() if name != _SEED and name not in figures}
        return cls(figures, texts, ranks, 1.0 if capacity is None else max(capacity, LEAST_CPU))

    def is_like(self, other: RunShape) -> bool:
        """Whether all but the nodes is the same."""
        return (self.figures, self.texts, self.ranks) == (other.figures, other.texts, other.ranks)


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that went well."""

    shape: RunShape
    phases: Mapping[str, PastPhase]


_Array = NDArray[np.floating]
_Method = Callable[[Sequence[PastRun], RunShape], tuple[PhasePrediction, ...]]


def predict(runs: Sequence[PastRun], wanted: RunShape) -> Prediction | None:
    """The prediction for a run of this shape, or None where the past says too little. The newest run comes first.

    >>> runs = [PastRun(RunShape({"n": 8.0}, {}, 4), {"step": PastPhase(10, mean)}) for mean in (1.0, 1.2, 9.0)]
    >>> found = predict(runs, RunShape({"n": 8.0}, {}, 4, capacity=0.5))
    >>> found.model, found.phases[0].seconds
    ('past-runs', (2.4,))
    """
    same = [run for run in runs if run.shape.is_like(wanted)]
    if same:
        phases = _medians(same, wanted)
        return Prediction(PAST_RUNS, phases, _error(same, _medians)) if phases else None
    alike = [
        run for run in runs if run.shape.texts == wanted.texts and run.shape.figures.keys() == wanted.figures.keys()
    ]
    phases = _lines(alike, wanted)
    return Prediction(FITTED, phases, _error(alike, _lines)) if phases else None


def _medians(runs: Sequence[PastRun], wanted: RunShape) -> tuple[PhasePrediction, ...]:
    """Of each phase that at least half of the runs reported."""
    found = []
    for name in runs[0].phases:
        seen = [(run.shape, run.phases[name]) for run in runs if name in run.phases]
        if 2 * len(seen) >= len(runs):
            mean = median(phase.mean * shape.capacity for shape, phase in seen) / wanted.capacity
            count = round(median(phase.count for _, phase in seen))
            found.append(_shaped(name, max(count, 1), mean, seen[0][1].course))
    return tuple(found)


def _lines(runs: Sequence[PastRun], wanted: RunShape) -> tuple[PhasePrediction, ...]:
    if not runs:
        return ()
    shapes = [run.shape for run in runs]
    varying = _varying([*shapes, wanted])
    if len(runs) < len(varying) + 3 or not _within(shapes, wanted, varying):
        return ()
    found = []
    for name in runs[0].phases:
        having = [run for run in runs if name in run.phases]
        if len(having) < len(runs):
            continue
        rows, at = _rows([run.shape for run in having], varying), _rows([wanted], varying)
        mean = _fit(rows, [run.phases[name].mean * run.shape.capacity for run in having], at) / wanted.capacity
        count = max(1, round(_fit(rows, [float(run.phases[name].count) for run in having], at)))
        found.append(_shaped(name, count, mean, having[0].phases[name].course))
    return tuple(found)


def _shaped(name: str, count: int, mean: float, course: Sequence[float]) -> PhasePrediction:
    return PhasePrediction(name, count, tuple(mean * share for share in course))


def _varying(shapes: Sequence[RunShape]) -> list[str]:
    """The figures that are not the same everywhere; empty text stands for the number of ranks."""
    names = [name for name in shapes[0].figures if len({shape.figures[name] for shape in shapes}) > 1]
    return [*names, ""] if len({shape.ranks for shape in shapes}) > 1 else names


def _value(shape: RunShape, name: str) -> float:
    return shape.figures[name] if name else float(shape.ranks)


def _within(shapes: Sequence[RunShape], wanted: RunShape, varying: Sequence[str]) -> bool:
    """Whether what is wanted is near to what was seen, and has logarithms."""
    for name in varying:
        seen, value = [_value(shape, name) for shape in shapes], _value(wanted, name)
        if min(*seen, value) <= 0 or not min(seen) / _BEYOND <= value <= max(seen) * _BEYOND:
            return False
    return True


def _rows(shapes: Sequence[RunShape], varying: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[1.0, *(math.log(_value(shape, name)) for name in varying)] for shape in shapes])


def _fit(rows: NDArray[np.float64], seconds: Sequence[float], at: NDArray[np.float64]) -> float:
    """The value at the one row `at` of a line through the logarithms; runs that lie far off weigh less."""
    logs: _Array = np.log(np.maximum(seconds, _LEAST))
    weights: _Array = np.ones(len(logs))
    slopes: _Array = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        weighted = rows * weights[:, None]
        slopes = np.linalg.solve(rows.T @ weighted + _RIDGE * np.eye(rows.shape[1]), weighted.T @ logs)
        away: _Array = np.abs(logs - rows @ slopes)
        usual = _HUBER * max(float(np.median(away)), 1e-6)
        weights = np.minimum(1.0, usual / np.maximum(away, 1e-12))
    return float(np.exp(np.clip(at @ slopes, -25.0, 25.0))[0])


def _error(runs: Sequence[PastRun], by: _Method) -> float | None:
    """The median share by which a run's total differs from what the others predict; None with fewer than three."""
    errors = []
    for at, run in enumerate(runs):
        found = by([*runs[:at], *runs[at + 1 :]], run.shape) if len(runs) > 2 else ()
        phases = [run.phases[each.phase] for each in found if each.phase in run.phases]
        actual = math.fsum(phase.mean * phase.count for phase in phases)
        if found and actual > 0:
            errors.append(abs(math.fsum(each.total or 0.0 for each in found) - actual) / actual)
    return median(errors) if errors else None


def is_finite(value: object) -> TypeGuard[float]:
    """Whether it is a number, neither nan nor endless."""
    return is_number(value) and math.isfinite(value)
