"""Predicted seconds of the phases of a run, as a value: what a performance model answers and a contract promises.

Source: Migration 2003, 3 and 4.2: the contract monitor compares the times of phases with predicted ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from gridportal.base.entries import Entries, number, text, whole

#: So many averages the course of one phase has at most.
MOST_POINTS = 64
#: So many phases one prediction has at most, as many as sums of reports are kept of.
MOST_PHASES = 200


@dataclass(frozen=True, slots=True)
class PhasePrediction:
    """One phase: `count` reports in a whole run (None: nobody knows), and seconds of one report.

    `seconds` has one average for each equal share of the reports, from the first to the last: steps of a factorization
    become shorter and shorter.

    >>> panel = PhasePrediction("panel", 4, (3.0, 1.0))
    >>> panel.at(0.1), panel.at(0.9), panel.done(0.5), panel.total
    (3.0, 1.0, 6.0, 8.0)
    """

    phase: str
    count: int | None
    seconds: tuple[float, ...]

    def at(self, share: float) -> float:
        """Seconds of a report in the middle of which `share` (0..1) of the phase is done."""
        points = self.seconds
        return points[min(int(share * len(points)), len(points) - 1)]

    def done(self, share: float) -> float:
        """Predicted seconds of the first `share` (0..1) of all reports; 0 where their count is not known."""
        points = self.seconds
        reached = min(max(share, 0.0), 1.0) * len(points)
        whole_points = int(reached)
        part = (reached - whole_points) * points[whole_points] if whole_points < len(points) else 0.0
        return (self.count or 0) * (math.fsum(points[:whole_points]) + part) / len(points)

    @property
    def total(self) -> float | None:
        """Predicted seconds of all its reports."""
        return None if self.count is None else self.done(1.0)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {"phase": self.phase, "count": self.count, "seconds": list(self.seconds)}

    @classmethod
    def read(cls, document: object) -> PhasePrediction:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "prediction")
        seconds = entries.list_of("seconds", number)
        return cls(entries.required("phase", text), entries.optional("count", whole), seconds or (0.0,))


@dataclass(frozen=True, slots=True)
class Prediction:
    """All phases of a run, and who predicts them; `error`: the model's usual error as a share of what is predicted.

    None as error: nobody has compared it with a run yet. corrections: by which factors the phases were corrected after
    what their model said.
    """

    model: str
    phases: tuple[PhasePrediction, ...]
    error: float | None = None
    corrections: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float | None:
        """Predicted seconds of the whole run; None where that of a phase is not known."""
        totals = [each.total for each in self.phases]
        known = [each for each in totals if each is not None]
        return math.fsum(known) if known and len(known) == len(totals) else None

    def is_comparable(self, phase: str) -> bool:
        """Whether its model can be compared: what was multiplied by 0 does not say any more what it was."""
        return self.corrections.get(phase, 1.0) > 0

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        phases = [each.document() for each in self.phases]
        corrections = {"corrections": dict(self.corrections)} if self.corrections else {}
        return {"model": self.model, "error": self.error, "phases": phases, **corrections}

    @classmethod
    def read(cls, document: object) -> Prediction:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "prediction")
        phases = tuple(PhasePrediction.read(each) for each in entries.list_of("phases", lambda each: each))
        corrections = entries.optional("corrections", _factors) or {}
        return cls(entries.required("model", text), phases, entries.optional("error", number), corrections)

    def corrected(self, factors: Mapping[str, float]) -> Prediction:
        """With the seconds of each phase multiplied by its factor, that of the longest phase where it has none.

        >>> model = Prediction("m", (PhasePrediction("step", 2, (1.0,)), PhasePrediction("end", 1, (1.0,))))
        >>> model.corrected({"step": 3.0}).total, model.corrected({}).total
        (9.0, 3.0)
        """
        if not factors:
            return self
        longest = max((each for each in self.phases if each.phase in factors), key=_length, default=None)
        usual = factors[longest.phase] if longest else 1.0
        by_phase = {each.phase: factors.get(each.phase, usual) for each in self.phases}
        phases = (
            replace(each, seconds=tuple(by_phase[each.phase] * seconds for seconds in each.seconds))
            for each in self.phases
        )
        return replace(self, phases=tuple(phases), corrections=by_phase)


def _length(phase: PhasePrediction) -> float:
    return phase.total or 0.0


def _factors(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        raise TypeError("an object with factors")
    return {str(phase): number(factor) for phase, factor in value.items()}


def averages(seconds: Sequence[float], most: int = MOST_POINTS) -> tuple[float, ...]:
    """The course of many values in at most `most` averages of equal shares; the sum stays what it is.

    >>> averages([4.0, 2.0, 1.0, 1.0], most=2)
    (3.0, 1.0)
    """
    if len(seconds) <= most:
        return tuple(seconds)
    edges = [len(seconds) * at / most for at in range(most + 1)]
    return tuple(_mean(seconds, start, end) for start, end in pairwise(edges))


def _mean(seconds: Sequence[float], start: float, end: float) -> float:
    """The average of a stretch that may begin and end within a value."""
    values = range(int(start), min(len(seconds), math.ceil(end)))
    return math.fsum(seconds[at] * (min(at + 1, end) - max(at, start)) for at in values) / (end - start)
