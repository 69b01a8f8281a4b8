"""How much of a program that can be stopped is SRS: less than 4 % of its lines, as in Migration 2003, section 8."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).parents[3] / "gridportal" / "workloads"
_CALL = re.compile(r"\bstoppable\b|\bstate\b|\bregistered\b")


def modules_of(module: Path) -> set[Path]:
    """A program's own modules: what it imports of the workloads, and so on."""
    imported = {
        node.module
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    imported.discard("gridportal.workloads.stoppable")  # it is no program's own
    paths = {WORKLOADS.parents[1] / (name.replace(".", "/") + ".py") for name in imported if ".workloads." in name}
    return {module}.union(*(modules_of(path) for path in paths))


@pytest.mark.parametrize("program", ["dense/qr", "dense/lu_system", "dense/eigenvalues", "cg", "heat"])
def test_fewer_than_four_percent_of_a_programs_lines_are_calls_of_srs(program: str) -> None:
    lines = [line for module in modules_of(WORKLOADS / f"{program}.py") for line in module.read_text().splitlines()]
    calls = [line for line in lines if _CALL.search(line)]
    assert 8 <= len(calls) < 0.04 * len([line for line in lines if line.strip()])
