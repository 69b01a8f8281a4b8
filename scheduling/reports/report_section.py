"""A report as sections: a sentence that can be quoted, a chart, and a table. Page, CSV and PDF show the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from gridportal.base.rates import percent_text
from gridportal.web.templatetags.units import duration
from scheduling.jobs.core.units import hours_text

#: So many rows of a table stand on a page or in a PDF; the CSV has all.
MOST_ROWS = 40
#: So many bars of a chart can be told from each other.
MOST_BARS = 12
_LONGEST = 80
#: Shorter texts are kept on one line, longer ones get room.
_SHORT, _ROOMY = 14, 30


class Cell(StrEnum):
    """What a column holds."""

    TEXT = "text"
    NUMBER = "number"
    PERCENT = "percent"
    CHANGE = "change"  # in percent, with its sign
    SECONDS = "seconds"
    FIGURE = "figure"  # each row is of something else: as many digits as count


class FigureName(str):
    """The name of a row's figure: with its unit, for other programs; without, for people, who see it at the value."""

    __slots__ = ("label",)
    label: str

    def __new__(cls, name: str, unit: str = "") -> Self:
        """`unit`: empty where the name says it."""
        made = super().__new__(cls, f"{name}, {unit}" if unit else name)
        made.label = name
        return made


class Seconds(float):
    """Seconds in a column of figures of several units."""


def figure_text(value: float) -> str:
    """A figure with the digits that count: whole from a hundred on.

    >>> figure_text(4.0), figure_text(56.25), figure_text(1234.5), figure_text(3)
    ('4.00', '56.2', '1,234', '3')
    """
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    return f"{value:,.{0 if size >= 100 else 1}f}" if size >= 10 else hours_text(value)


@dataclass(frozen=True, slots=True)
class Head:
    """A column: its name in the CSV, its heading for people, and what it holds."""

    name: str
    label: str
    cell: Cell = Cell.TEXT

    @property
    def number(self) -> bool:
        """Whether it stands at the right."""
        return self.cell is not Cell.TEXT

    def text(self, value: Any) -> str:
        """A value of it for people."""
        if value is None:
            return "—"
        if isinstance(value, str):
            return value.label if isinstance(value, FigureName) else value
        if self.cell is Cell.SECONDS or isinstance(value, Seconds):
            return str(duration(float(value)))
        return _number_text(self.cell, value)


def _number_text(cell: Cell, value: Any) -> str:
    if cell is Cell.CHANGE:
        return f"{value:+,.0f} %".replace("-", "−")
    if cell is Cell.FIGURE:
        return figure_text(value)
    if isinstance(value, float):
        return (percent_text(value) if cell is Cell.PERCENT else hours_text(value)).replace("-", "−")
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of one figure: bars by name, or a line over time; `before`: the same of the time before, in order. The
    names of a line are days, 2026-11-27, or moments in UTC, 2026-11-27 05:00. is_count: its values are whole."""

    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    before: tuple[float, ...] = ()
    is_line: bool = False
    is_count: bool = False

    @property
    def short_names(self) -> tuple[str, ...]:
        """The names; of moments of one day the time of day alone, of two days without the year.

        >>> Chart("", ("2026-11-27 05:00", "2026-11-27 06:00"), (1.0, 2.0), is_line=True).short_names
        ('05:00', '06:00')
        """
        days = {name.partition(" ")[0] for name in self.names}
        if not self.is_line or not all(" " in name for name in self.names):
            return self.names
        return tuple(name.partition(" ")[2] if len(days) == 1 else name[len("2026-") :] for name in self.names)


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its sentence and chart. values: plain values for other programs, None for what is not known."""

    key: str
    title: str
    finding: str
    heads: tuple[Head, ...]
    values: tuple[tuple[Any, ...], ...]
    note: str = ""
    chart: Chart | None = None
    is_filtered: bool = False

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The values as texts for people."""
        return tuple(tuple(head.text(value) for head, value in self.pairs(row)) for row in self.values)

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows of a page."""
        return replace(self, values=self.values[:MOST_ROWS]).rows

    @property
    def cells(self) -> list[list[tuple[str, str, str]]]:
        """The rows of a page: each text with its class of the style sheet, and its head."""
        rows = [zip(row, self.heads, strict=True) for row in self.shown]
        return [[(_short(text), _css(text, is_number=head.number), head.label) for text, head in row] for row in rows]

    @property
    def left_out(self) -> int:
        """How many rows only the CSV has."""
        return max(0, len(self.values) - MOST_ROWS)

    def pairs(self, row: tuple[Any, ...]) -> Sequence[tuple[Head, Any]]:
        """Each value of a row with its column."""
        return list(zip(self.heads, row, strict=True))

    def arranged(self, sort: str, find: str) -> Section:
        """With the rows alone that have all words of `find`, in the order of `sort`: "people:jobs", or
        "-people:jobs" for the greatest first. What names no column of this section leaves its order."""
        words = find.lower().split()
        rows = [row for row in self.values if all(word in _text(row) for word in words)] if words else [*self.values]
        table, _, column = sort.removeprefix("-").partition(":")
        place = next((at for at, head in enumerate(self.heads) if head.name == column), None)
        if table == self.key and place is not None:
            rows = _sorted(rows, place, downwards=sort.startswith("-"))
        return replace(self, values=tuple(rows), is_filtered=bool(words))


def _short(text: str) -> str:
    """Cut behind a word, where it has some.

    >>> _short("a sentence " * 9)[-13:], len(_short("x" * 99))
    ('a sentence a…', 80)
    """
    if len(text) <= _LONGEST:
        return text
    cut = text[: _LONGEST - 1]
    words = cut if text[_LONGEST - 1] == " " else cut.rpartition(" ")[0]
    return f"{words.rstrip() if len(words) > _LONGEST // 2 else cut}…"


def _css(text: str, *, is_number: bool) -> str:
    if is_number:
        return "num"
    return "keep" if len(text) < _SHORT else "roomy" if len(text) > _ROOMY else ""


def _text(row: tuple[Any, ...]) -> str:
    return " ".join(value.lower() for value in row if isinstance(value, str))


def _sorted(rows: list[tuple[Any, ...]], place: int, *, downwards: bool) -> list[tuple[Any, ...]]:
    """What is not known comes last; numbers come before words."""
    known = [row for row in rows if row[place] is not None]
    known.sort(key=lambda row: _key(row[place]), reverse=downwards)
    return known + [row for row in rows if row[place] is None]


def _key(value: Any) -> tuple[int, Any]:
    return (1, value.lower()) if isinstance(value, str) else (0, value)
