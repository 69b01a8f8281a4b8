"""Tables of results, for the pages and for terminals, and how figures are written in their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gridportal.experiments.statistics import spread

NOTHING = "—"


@dataclass(frozen=True, slots=True)
class Table:
    """Heads and rows of text; the first column names the row. A `detail` is too long for a terminal.

    text_columns: so many columns from the first on are text, the others figures, which stand to the right.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    detail: bool = False
    text_columns: int = 1


def interval(estimate: Mapping[str, float] | None) -> str:
    """A fraction in per cent with its 95 % interval, where it has one."""
    if not estimate:
        return NOTHING
    ends = spread(estimate)
    reach = f" ({100 * ends[0]:z.0f} to {100 * ends[1]:z.0f})" if ends else ""
    return f"{100 * estimate['mean']:z.1f}{reach}"


def percent(value: float | None) -> str:
    """A fraction in per cent."""
    return NOTHING if value is None else f"{100 * value:.1f}"


def number(value: float | None, digits: int = 2) -> str:
    """A figure as it is."""
    return NOTHING if value is None else f"{value:.{digits}f}"
