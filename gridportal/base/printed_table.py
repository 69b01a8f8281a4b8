"""Tables for people on the command line: one style, as wide as the terminal is, no name and no number ever cut off."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gridportal.base.printed_text import visible

_GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """`number`: stands to the right. `wraps`: words, which may take several lines. `spare`: 0 always stays; of others
    the one with the highest is left out first where there is no room, and a line says so."""

    head: str
    number: bool = False
    wraps: bool = False
    spare: int = 0


Cell = str | Text


def show_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, title: str = "", console: Console | None = None
) -> None:
    """Print a table. What it says is printed as it is: brackets are no markup, control characters are shown. Without a
    terminal it is 80 columns wide (or COLUMNS); only what cannot be broken or left out makes it wider. A pipe or a file
    gets every column."""
    leaves_out = console is not None or has_width(sys.stdout, os.environ)
    console = console or Console()
    text = [[cell if isinstance(cell, Text) else Text(visible(" ".join(cell.split()))) for cell in row] for row in rows]
    places = _shown(columns, text, console.width) if leaves_out else list(range(len(columns)))
    widths = _widths([(columns[place], [row[place] for row in text]) for place in places], console.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for place, width in zip(places, widths, strict=True):
        column = columns[place]
        table.add_column(Text(column.head), justify="right" if column.number else "left", width=width, overflow="fold")
    for row in text:
        table.add_row(*(row[place] for place in places))
    if title:
        console.print(Text(visible(title), style="bold"), soft_wrap=True)
    terminal = console.width
    console.width = max(terminal, sum(widths) + _GAP * len(widths))  # else a table that is wider would be cut off
    with console.capture() as printed:
        console.print(table, soft_wrap=False)
    console.width = terminal
    console.out("\n".join(line.rstrip() for line in printed.get().splitlines()), highlight=False)
    if left_out := [column.head for place, column in enumerate(columns) if place not in places]:
        console.print(Text(f"No room for: {', '.join(left_out)}. A wider terminal or --json shows all."))


def has_width(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether lines may only be so long: on a terminal, or where COLUMNS says so.

    >>> import io
    >>> has_width(io.StringIO(), {}), has_width(io.StringIO(), {"COLUMNS": "100"})
    (False, True)
    """
    return stream.isatty() or environment.get("COLUMNS", "").isdigit()


def _shown(columns: Sequence[Column], rows: Sequence[Sequence[Text]], room: int) -> list[int]:
    """The places of the columns for which there is room."""
    least = [_least(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    places = list(range(len(columns)))
    while sum(least[place] + _GAP for place in places) - _GAP > room:
        spare = max(places, key=lambda place: columns[place].spare)
        if not columns[spare].spare:
            break
        places.remove(spare)
    return places


def _widths(columns: Sequence[tuple[Column, Sequence[Text]]], room: int) -> list[int]:
    """At least what each needs. What is left they share alike, but for those that want less than their part."""
    widths = [_least(column, cells) for column, cells in columns]
    wanted = [max(_longest(Text(column.head)), *map(_longest, cells), 1) for column, cells in columns]
    missing = {place: want - widths[place] for place, want in enumerate(wanted)}
    left = room - sum(widths) - _GAP * (len(widths) - 1)
    for done, place in enumerate(sorted(missing, key=lambda place: missing[place])):
        more = max(0, min(missing[place], left // (len(widths) - done)))
        widths[place] += more
        left -= more
    return widths


def _least(column: Column, cells: Sequence[Text]) -> int:
    """What a column needs: its longest word where it may wrap, else its longest cell; of its heading a word."""
    return max(_longest_word(Text(column.head)), *map(_longest_word if column.wraps else _longest, cells), 1)


def _longest(cell: Text) -> int:
    return max(map(cell_len, cell.plain.splitlines()), default=0)


def _longest_word(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split()), default=0)
