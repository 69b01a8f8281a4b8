"""The table from the papers to the code names files and names that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent
_FILE = re.compile(r"`([\w/-]+\.(?:py|json))`((?:,? ?`[\w.]+`(?: \(`\w+`\))?)*)")
_ROWS = [line for line in (_ROOT / "docs/papers.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("row", [row for row in _ROWS if not row.startswith("| section |")])
def test_what_a_line_names_is_there(row: str) -> None:
    where = row.split("|")[3]
    files = list(_FILE.finditer(where))
    assert files, "a line that names no file"
    for match in files:
        assert (_ROOT / match[1]).is_file(), match[1]
        names = re.findall(r"`([\w.]+)`", match[2])
        assert not names or set(names) <= _names(_ROOT / match[1]), (match[1], names)


def test_sources_are_cited_in_one_form() -> None:
    other = re.compile(r"\((?:1999|2003), |(?:Selection 1999|Pattern 2003),? (?:section|Section|sec\.)")
    files = [file for app in ("gridportal", "monitoring", "scheduling") for file in (_ROOT / app).rglob("*.py")]
    assert not [str(file) for file in files if other.search(file.read_text(encoding="utf-8"))]


def _names(file: Path) -> set[str]:
    """Everything that a module defines or assigns: names, and those of its classes with the class in front."""
    found = set[str]()

    def visit(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(before + node.name)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{before}{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name):
                    found.add(before + target.id)
                    found.add(target.id)

    visit(ast.parse(file.read_text(encoding="utf-8")).body, "")
    return found


def test_each_decision_is_found_from_the_guide() -> None:
    named = set(re.findall(r"`([\w-]+)`", (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    written = {file.stem for file in (_ROOT / "docs/decisions").glob("*.md")}
    assert not sorted(written - named)
