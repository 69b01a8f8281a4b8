"""The formatter has the last word on Python, except in tables of figures that are read by row and column."""

from __future__ import annotations

import subprocess
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


def test_every_formatter_runs_when_one_finds_an_error(tmp_path: Path) -> None:
    for name, code in (("ruff", 1), ("djangofmt", 0), ("oxfmt", 0)):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/calls\nexit {code}\n')
        (tmp_path / name).chmod(0o755)
    command = ["make", "-C", str(ROOT), "-o", ".venv/.dev", "format", f"BIN={tmp_path}"]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert ended.returncode != 0
    calls = [line.rpartition("/")[2] for line in (tmp_path / "calls").read_text().splitlines()]
    assert calls == ["ruff check --fix .", "ruff format .", "djangofmt templates", "oxfmt static"]
