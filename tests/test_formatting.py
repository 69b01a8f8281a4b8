"""The formatter has the last word on Python, except in tables of figures that are read by row and column."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]

#: Who may do what at each address, and what each pair of nodes has.
TABLES = {
    "tests/test_permissions_matrix.py",
    "tests/gridportal/testbed/slurm/conftest.py",
    "tests/gridportal/slurm/test_topology_conf.py",
}

MARKS = ("# fmt: " + "skip", "# fmt: " + "off")


def test_only_tables_of_figures_are_kept_from_the_formatter() -> None:
    kept = {
        str(path.relative_to(ROOT))
        for folder in ("gridportal", "monitoring", "scheduling", "tests", "scripts")
        for path in (ROOT / folder).rglob("*.py")
        if any(mark in path.read_text() for mark in MARKS)
    }
    assert kept == TABLES
