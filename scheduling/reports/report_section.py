"""A report as sections: a sentence that can be quoted, a chart, and a table. Page, CSV and PDF show the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from gridportal.web.templatetags.units import duration

#: So many rows of a table stand on a page or in a PDF; the CSV has all.
MOST_ROWS = 40
#: So many bars of a chart can be told from each other.
MOST_BARS = 12


class Cell(StrEnum):
    """What a column holds."""

    TEXT = "text"
    NUMBER = "number"
    SECONDS = "seconds"


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
        if self.cell is Cell.SECONDS:
            return str(duration(value))
        return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of one figure: bars by name, or a line over time; `before`: the same of the time before, in order."""

    label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    before: tuple[float, ...] = ()
    is_line: bool = False


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
    def numbers(self) -> frozenset[int]:
        """The places of the columns that hold numbers."""
        return frozenset(at for at, head in enumerate(self.heads) if head.number)

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


def _text(row: tuple[Any, ...]) -> str:
    return " ".join(value.lower() for value in row if isinstance(value, str))


def _sorted(rows: list[tuple[Any, ...]], place: int, *, downwards: bool) -> list[tuple[Any, ...]]:
    """What is not known comes last; numbers come before words."""
    known = [row for row in rows if row[place] is not None]
    known.sort(key=lambda row: _key(row[place]), reverse=downwards)
    return known + [row for row in rows if row[place] is None]


def _key(value: Any) -> tuple[int, Any]:
    return (1, value.lower()) if isinstance(value, str) else (0, value)
