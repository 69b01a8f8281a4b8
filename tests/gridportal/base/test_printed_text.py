"""What others named commands no terminal: one way for all that the command line prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo, visible

ROOT = Path(__file__).parents[3]
HOSTILE = "n1\x1b]0;owned\x07\x1b[2J\x9b1m\u202etxt\ud800"
SEEN = r"n1\x1b]0;owned\x07\x1b[2J\x9b1m\u202etxt\ud800"


def test_control_characters_are_shown_and_all_else_stays() -> None:
    assert visible(HOSTILE) == SEEN
    assert visible("Zürich – 5 µs\tand\nmore → 節点") == "Zürich – 5 µs\tand\nmore → 節点"


def test_sentences_and_tables_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE, err=True)
    show_table([Column("Machine")], [(HOSTILE,)], title=HOSTILE)
    printed = capsys.readouterr()
    assert printed.err == f"{SEEN}\n"
    assert printed.out.count(SEEN) == 2
    assert "\x1b]" not in printed.out


def test_what_is_bold_is_so_on_a_terminal_alone(capsys: pytest.CaptureFixture[str]) -> None:
    echo(", 2 nodes", bold=HOSTILE)
    assert capsys.readouterr().out == f"{SEEN}, 2 nodes\n"


def test_every_command_prints_through_it() -> None:
    """typer.echo and click.echo would let such characters through, and what typer.style adds would be shown."""
    own = ROOT / "gridportal/base/printed_text.py"
    files = [path for top in ("gridportal", "monitoring", "scheduling") for path in (ROOT / top).rglob("*.py")]
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files
        if path != own and ("echo" in (text := path.read_text()) or "style" in text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and node.attr in ("echo", "style")
        and getattr(node.value, "id", "") in ("typer", "click")
    ]
    assert calls == []
