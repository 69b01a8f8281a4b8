"""What a contract monitor knows of a run, as a value in bounded space that is kept as JSON between two looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gridportal.base.entries import Entries, number, sequence, text, whole
from scheduling.contracts.core.limits import Cause, Limits
from scheduling.contracts.core.phase_ratio import PhaseRatio

#: What is left of the most that came at once, with each time that something comes.
_BATCH_KEPT = 0.7
#: So many adjustments are kept one by one; they grow by a tenth or a doubled time each, so few runs get there.
MOST_ADJUSTMENTS = 200


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Limits that moved: after which report of the run (from 1), at which Unix time, why, and the average then."""

    report: int
    at: float
    cause: Cause
    average: float
    limits: Limits

    def document(self) -> list[Any]:
        """As JSON, and back by `read`."""
        return [self.report, self.at, self.cause.value, self.average, self.limits.lower, self.limits.upper]

    @classmethod
    def read(cls, document: object) -> Adjustment:
        """From a document of `document`. Raises TypeError for another kind."""
        items = sequence(document)
        if len(items) != 6 or items[2] not in list(Cause):
            raise TypeError("a list of report, time, cause, average and two limits")
        limits = Limits(number(items[4]), number(items[5]))
        return cls(whole(items[0]), number(items[1]), Cause(text(items[2])), number(items[3]), limits)


@dataclass(frozen=True, slots=True)
class Call:
    """A call to the rescheduler: after which report, when, for which phase, what was promised and seen of it (s)."""

    report: int
    at: float
    clock: float
    phase: str
    promised: float
    seconds: float
    average: float

    def document(self) -> list[Any]:
        """As JSON, and back by `read`."""
        return [self.report, self.at, self.clock, self.phase, self.promised, self.seconds, self.average]

    @classmethod
    def read(cls, document: object) -> Call:
        """From a document of `document`. Raises TypeError for another kind."""
        items = sequence(document)
        if len(items) != 7:
            raise TypeError("a list of report, time, clock, phase and three numbers")
        return cls(whole(items[0]), number(items[1]), number(items[2]), text(items[3]), *map(number, items[4:]))


def is_second(last: int, number: int, round_of: int) -> bool:
    """Whether report `number` of those judged is the second outside the limits: the `last` one (0: none) came at most
    `round_of` reports before."""
    return last > 0 and number - last <= round_of


@dataclass(slots=True)
class MonitorState:
    """Everything that goes on from report to report.

    clock: reported seconds so far, by which the monitor tells time; above, below: the numbers of the last reports above
    the upper limit and below the lower one (0: none); call: what was asked and not answered yet; called: after which
    report was asked last; quiet_until, raised_until: on the clock. heard_at: when the portal last read a report, in
    Unix seconds; batch: the most predicted seconds that came at once of late. These two depend on when reports are
    read, nothing else does.
    """

    limits: Limits = field(default_factory=Limits)
    scale: float = 1.0
    phases: dict[str, PhaseRatio] = field(default_factory=dict)
    reports: int = 0
    judged: int = 0
    clock: float = 0.0
    actual: float = 0.0
    predicted: float = 0.0
    last_at: float = 0.0
    last_ratio: float | None = None
    above: int = 0
    below: int = 0
    call: Call | None = None
    called: int = 0
    calls: int = 0
    refusals: int = 0
    quiet_until: float = 0.0
    raised_until: float | None = None
    adjustments: list[Adjustment] = field(default_factory=list)
    dropped: int = 0
    heard_at: float = 0.0
    batch: float = 0.0

    @property
    def average(self) -> float | None:
        """Actual over predicted seconds of all that was judged: each ratio weighs as much as its phase is long."""
        return self.actual / self.predicted if self.predicted > 0 else None

    @property
    def read_at(self) -> float:
        """When the portal last read a report, in Unix seconds; 0: never. What was kept before that was noted has the
        time of the report itself."""
        return self.heard_at or self.last_at

    def adjust(self, limits: Limits, cause: Cause) -> None:
        """Move the limits, and keep that."""
        self.limits = limits
        if len(self.adjustments) >= MOST_ADJUSTMENTS:
            del self.adjustments[MOST_ADJUSTMENTS // 2]
            self.dropped += 1
        self.adjustments.append(Adjustment(self.reports, self.last_at, cause, self.average or 0.0, limits))

    def heard(self, at: float, predicted: float) -> None:
        """Reports were read at the Unix time `at`, for which so many seconds had been predicted."""
        self.heard_at = at
        self.batch = max(predicted, _BATCH_KEPT * self.batch)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        plain = {name: getattr(self, name) for name in (*_WHOLE, *_NUMBERS, *_MAYBE)}
        return plain | {
            "limits": [self.limits.lower, self.limits.upper],
            "phases": {name: each.numbers() for name, each in self.phases.items()},
            "call": self.call.document() if self.call else None,
            "adjustments": [each.document() for each in self.adjustments],
        }

    @classmethod
    def read(cls, document: object) -> MonitorState:
        """From a document of `document`; an empty one is a run that has not begun. InputError for another kind."""
        entries = Entries(document, "contract")
        state = cls()
        for name in _WHOLE:
            setattr(state, name, entries.optional(name, whole) or 0)
        for name in _NUMBERS:
            setattr(state, name, entries.optional(name, number) or getattr(state, name))
        for name in _MAYBE:
            setattr(state, name, entries.optional(name, number))
        state.limits = entries.optional("limits", _limits) or Limits()
        state.phases = entries.optional("phases", _phases) or {}
        state.call = entries.optional("call", Call.read)
        state.adjustments = list(entries.list_of("adjustments", Adjustment.read))
        return state


_WHOLE = ("reports", "judged", "above", "below", "called", "calls", "refusals", "dropped")
_NUMBERS = ("scale", "clock", "actual", "predicted", "last_at", "quiet_until", "heard_at", "batch")
_MAYBE = ("last_ratio", "raised_until")


def _limits(value: object) -> Limits:
    lower, upper = map(number, sequence(value))
    return Limits(lower, upper)


def _phases(value: object) -> dict[str, PhaseRatio]:
    if not isinstance(value, dict):
        raise TypeError("an object of phases")
    return {text(name): PhaseRatio(*_ratio(numbers)) for name, numbers in value.items()}


def _ratio(value: object) -> tuple[Any, ...]:
    items = sequence(value)
    if len(items) != 8:
        raise TypeError("a list of 8 numbers")
    return (whole(items[0]), *map(number, items[1:]))
