"""The figures of a time beside those of as long a time before, as every tab of the report has them."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.reports.report_section import Cell, Head, Section
from scheduling.usage.ranges import Range

#: A figure by its name: the value now and before, and whether it is of seconds.
Pair = tuple[str, float | None, float | None]
Figure = tuple[str, float | None]
HEADS = (
    Head("figure", "Figure"),
    Head("now", "This time", Cell.NUMBER),
    Head("before", "Time before", Cell.NUMBER),
    Head("change_percent", "Change, %", Cell.NUMBER),
)


def compared(now: Sequence[Figure], then: Sequence[Figure], before: Range) -> Section:
    """Each figure now and before; the first one is in the sentence."""
    earlier = dict(then)
    values = tuple((name, value, earlier.get(name), change(value, earlier.get(name))) for name, value in now)
    until = f"{before.begin:%Y-%m-%d %H:%M} to {before.until:%Y-%m-%d %H:%M} UTC"
    note = f"The time before: as long, {until}."
    return Section(
        "compared", "Against the time before", _finding(*now[0], earlier.get(now[0][0])), HEADS, values, note
    )


def change(now: float | None, then: float | None) -> float | None:
    """In percent; None where there was nothing before."""
    return round(100 * (now - then) / then, 1) if then and now is not None else None


def _finding(name: str, now: float | None, then: float | None) -> str:
    if now is None or then is None:
        return f"{name} cannot be compared: one of the times has none."
    words = name[:1].lower() + name[1:]
    figures = f"{now:,.2f} {words} after {then:,.2f} in as long a time before"
    part = change(now, then)
    return f"{figures}." if part is None else f"{figures}: {abs(part):,.0f} % {'more' if part >= 0 else 'less'}."
