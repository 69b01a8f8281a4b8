"""Nothing that is printed on the command line is read as markup: names with brackets are printed as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("gridportal", "monitoring", "scheduling")
#: What is printed as it is: constants, and what rich itself made.
_SAFE_CALLS = {"Text"}


def read_as_markup(source: str) -> Iterator[int]:
    """The lines of calls of a console's `print` with text that is not fixed and markup that is not off."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "print"):
            continue
        off = any(word.arg == "markup" and _is(word.value, value=False) for word in node.keywords)
        if not off and not all(map(_is_safe, node.args)):
            yield node.lineno


def _is_safe(part: ast.expr) -> bool:
    if isinstance(part, ast.Constant):
        return "[" not in str(part.value)
    return isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _SAFE_CALLS


def _is(part: ast.expr, *, value: object) -> bool:
    return isinstance(part, ast.Constant) and part.value is value


def test_no_command_prints_names_as_markup() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    tables = ROOT / "gridportal/base/printed_table.py"  # prints a table whose cells are Text
    assert {
        f"{path}:{line}" for path in files if path != tables for line in read_as_markup(path.read_text("utf-8"))
    } == set()


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("console.print(f'{name}')", [1]),
        ("console.print(name)", [1]),
        ("console.print('[bold]x')", [1]),
        ("console.print(name, markup=False)", []),
        ("console.print('plain', Text(name))", []),
    ],
)
def test_the_check_sees_what_it_is_for(source: str, lines: list[int]) -> None:
    assert list(read_as_markup(source)) == lines
