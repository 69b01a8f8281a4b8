"""The tolerance limits of a contract, and how they adapt: pure arithmetic, no state.

Source: Migration 2003, 4.2 and 6.1, which say when limits adapt and give no formula. Ours:

- *base* = given limits x scale; scale is 1 at first and only falls, to the average ratio, at least to `LEAST_SCALE`,
  when a ratio and the average are below the lower limit: the model promises too much time, and a run that was twice as
  fast as promised and is now as slow as promised has lost half of its speed.
- After a refusal the upper limit is a tenth above the average of that moment, above the ratio that was expected of the
  rest or above the base, whichever is the highest, so that the same slowdown does not ask again; but not above the
  ratio from which a move pays (`break_even`), and never below the base.
- A raised limit falls back to the base once its time is over, since other nodes may have become free.

What follows, and is tested with random runs: lower <= upper; the upper limit is never more than a tenth above a ratio
that was seen; it never stands above the ratio from which, by the rescheduler's own figures, a move pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gridportal.base.errors import InputError

#: How far above what was seen a refusal raises the upper limit.
STEP = 0.1
LEAST_SCALE = 0.1


class Cause(StrEnum):
    """Why limits moved."""

    REFUSED = "refused"
    FASTER = "faster"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Limits:
    """Between these ratios of actual to predicted seconds a phase is as promised."""

    lower: float = 0.7
    upper: float = 2.0

    @classmethod
    def checked(cls, lower: float, upper: float) -> Limits:
        """The limits. Raises InputError for what is not 0 < lower < 1 < upper <= 100."""
        if not 0 < lower < 1:
            raise InputError("lower limit", lower, "a ratio above 0 and below 1")
        if not 1 < upper <= 100:
            raise InputError("upper limit", upper, "a ratio above 1, at most 100")
        return cls(lower, upper)

    def scaled(self, scale: float) -> Limits:
        """Both, times `scale`."""
        return Limits(self.lower * scale, self.upper * scale)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the rescheduler answered when it declined.

    break_even: the ratio of the rest from which a move would pay; None where that was not the question (a cooldown, an
    opt-out). lasting: for so many seconds the answer stays the same, None where nobody knows.
    """

    break_even: float | None = None
    lasting: float | None = None


def after_refusal(base: Limits, seen: float, refusal: Refusal) -> Limits:
    """The limits once the rescheduler has declined at this ratio.

    >>> after_refusal(Limits(), 3.0, Refusal()).upper
    3.3000000000000003
    >>> after_refusal(Limits(), 3.0, Refusal(break_even=2.5)).upper
    2.5
    """
    upper = max(seen, base.upper) * (1 + STEP)
    if refusal.break_even is not None:
        upper = min(upper, max(refusal.break_even, base.upper))
    return Limits(base.lower, upper)


def after_faster(average: float, scale: float) -> float:
    """The scale once a ratio and the average are below the lower limit.

    >>> after_faster(0.5, 1.0), after_faster(0.01, 0.5), after_faster(0.9, 0.5)
    (0.5, 0.1, 0.5)
    """
    return max(min(scale, average), LEAST_SCALE)
