"""The figures of a time beside those of as long a time before, as every tab of the report has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.reports.report_section import Cell, FigureName, Head, Seconds, Section, figure_text
from scheduling.usage.ranges import Range


class Figure(NamedTuple):
    """A figure by its name; `unit`: "seconds" where it is a time."""

    name: str
    value: float | None
    unit: str = ""


SECONDS = "seconds"
_DIGITS = 4
HEADS = (
    Head("figure", "Figure"),
    Head("now", "This time", Cell.FIGURE),
    Head("before", "Time before", Cell.FIGURE),
    Head("change_percent", "Change", Cell.CHANGE),
)


def compared(now: Sequence[Figure], then: Sequence[Figure], before: Range) -> Section:
    """Each figure now and before, without those that neither time has; the first one is in the sentence."""
    earlier = {figure.name: figure.value for figure in then}
    pairs = [(figure, earlier.get(figure.name)) for figure in now]
    values = tuple(_row(each, then) for each, then in pairs if each.value is not None or then is not None)
    until = f"{before.begin:%Y-%m-%d %H:%M} to {before.until:%Y-%m-%d %H:%M} UTC"
    note = f"The time before is as long: {until}."
    finding = _finding(now[0].name, now[0].value, earlier.get(now[0].name))
    return Section("compared", "Against the time before", finding, HEADS, values, note)


def _row(figure: Figure, then: float | None) -> tuple[Any, ...]:
    pair = _rounded(figure.value), _rounded(then)
    if figure.unit == SECONDS:
        pair = _seconds(figure.value), _seconds(then)
    return FigureName(figure.name, figure.unit), *pair, change(figure.value, then)


def _rounded(value: float | None) -> float | None:
    """With so many digits as a reader can use, for other programs, too."""
    return round(value, _DIGITS) if isinstance(value, float) else value


def _seconds(value: float | None) -> Seconds | None:
    return None if value is None else Seconds(value)


def change(now: float | None, then: float | None) -> float | None:
    """In percent; None where there was nothing before."""
    return round(100 * (now - then) / then, 1) if then and now is not None else None


def _finding(name: str, now: float | None, then: float | None) -> str:
    if now is None or then is None:
        lacks = "this time has no" if now is None else "the time before has no"
        lacks = "neither of the two times has a" if now is then else lacks
        return f"{name.removesuffix(', %')} cannot be compared: {lacks} figure of it."
    words, share = name[:1].lower() + name[1:], name.removesuffix(", %")
    figures = f"{figure_text(now)} {words} after {figure_text(then)} in the time before"
    if share != name:
        figures = f"{share}: {figure_text(now)} % after {figure_text(then)} % in the time before"
    part = change(now, then)
    return f"{figures}." if part is None else f"{figures}: {abs(part):,.0f} % {'more' if part >= 0 else 'less'}."
