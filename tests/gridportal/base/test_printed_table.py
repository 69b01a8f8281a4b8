"""Tables on the command line fit the terminal, and lose no name and no number."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gridportal.base.printed_table import Column, show_table

COLUMNS = (
    Column("Node"),
    Column("Why", wraps=True),
    Column("Bandwidth, Mbit/s", number=True),
    Column("Measured", spare=1),
    Column("By", spare=2),
)
ROW = ("node-with-a-long-name-17", "the best of all the groups that were looked at", "1,000.5", "12 s ago", "an agent")


def printed(columns: tuple[Column, ...], rows: list[tuple[str, ...]], width: int, title: str = "") -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    show_table(columns, rows, title=title, console=console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_where_there_is_room_each_row_is_a_line() -> None:
    head, row = printed(COLUMNS, [ROW], 120)
    assert head.split("  ")[0] == "Node"
    assert [part for part in row.split("  ") if part] == [part.strip() for part in row.split("  ") if part]
    assert all(cell in row for cell in ROW)


@pytest.mark.parametrize("width", [50, 60, 80, 100])
def test_no_line_is_longer_than_the_terminal_and_what_is_left_out_is_said(width: int) -> None:
    lines = printed(COLUMNS, [ROW], width)
    assert all(len(line.rstrip()) <= width for line in lines[:-1])
    text = " ".join(lines)
    assert "node-with-a-long-name-17" in text
    assert "1,000.5" in text
    for column, cell in zip(COLUMNS[3:], ROW[3:], strict=True):
        assert (cell in text) != (f"{column.head}" in text.partition("No room for:")[2])


def test_the_least_important_column_goes_first() -> None:
    assert printed(COLUMNS, [ROW], 60)[-1] == "No room for: By. A wider terminal or --json shows all."


def test_a_pipe_gets_every_column(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    columns = [Column(f"column{number}", spare=number) for number in range(20)]
    show_table(columns, [[f"cell{number}" for number in range(20)]])
    text = capsys.readouterr().out
    assert text.split() == [*(column.head for column in columns), *(f"cell{number}" for number in range(20))]
    monkeypatch.setenv("COLUMNS", "60")
    show_table(columns, [[f"cell{number}" for number in range(20)]])
    assert "No room for: " in capsys.readouterr().out


def test_brackets_are_no_markup() -> None:
    names = ("[red]n1[/red]", "[/]", "1", "[bold]", ":smile:")
    lines = printed(COLUMNS, [names], 80, title="[b]all[/b]")
    assert lines[0] == "[b]all[/b]"
    assert all(name in lines[2] for name in names)


def test_what_cannot_be_broken_makes_the_table_wider_than_the_terminal() -> None:
    lines = printed((Column("Node"), Column("Load", number=True)), [("n" * 50, "0.25")], 20)
    assert lines[1].split() == ["n" * 50, "0.25"]


def test_numbers_stand_to_the_right() -> None:
    lines = printed((Column("Node"), Column("Load", number=True)), [("n1", "0.25"), ("n2", "10.25")], 80)
    assert lines == ["Node   Load", "n1     0.25", "n2    10.25"]


@given(st.lists(st.tuples(*[st.text("abc [/]é中", max_size=30)] * 3), max_size=4), st.integers(5, 90))
def test_every_word_is_printed_whole(rows: list[tuple[str, ...]], width: int) -> None:
    lines = printed((Column("A"), Column("B", wraps=True), Column("C", wraps=True)), rows, width)
    text = {word for line in lines for word in line.split()}
    assert {word for row in rows for cell in row for word in cell.split()} <= text
