"""The store of telemetry: how much of two cores it takes, how small it is, and how fast one series is read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from tests.servers import postgres_server

pytestmark = pytest.mark.bench
HERE = Path(__file__).resolve().parents[2]
TRACES = HERE.parent / "shared" / "data" / "traces"


@pytest.fixture
def postgres() -> Iterator[str]:
    """One for each test: what another one stored would count as its own."""
    with postgres_server() as url:
        yield url


def run(home: Path, url: str, *words: str) -> dict[str, Any]:
    keep = {name: value for name, value in os.environ.items() if not name.startswith("GRIDPORTAL_")}
    settings = {"DJANGO_SETTINGS_MODULE": "gridportal.settings", "GRIDPORTAL_HOME": str(home), "DATABASE_URL": url}
    said = shell.run(
        [sys.executable, "-m", "tests.bench.telemetry_rates", *words], timeout=550, cwd=HERE, env=keep | settings
    )
    return json.loads(said.stdout)


def show(line: str) -> None:
    sys.stdout.write(line + "\n")


def told(where: str, done: dict[str, Any]) -> str:
    return (
        f"{where}: {done['samples']:,} samples a poll, recorded in {done['record']:.2f} s"
        f" (slowest {done['slowest']:.2f}, first {done['first']:.2f}), moved into blocks in {done['compact']:.2f} s:"
        f" {done['rate']:,.0f} samples/s, {done['share']:.1%} of 30 s"
        f" ({done['busy']:.2f} s of processor beside the database's); {done['bytes']:.2f} bytes a sample"
    )


def test_ten_thousand_nodes_on_postgresql(postgres: str, tmp_path: Path) -> None:
    show("\n" + told("PostgreSQL, 10,000 nodes", run(tmp_path, postgres, "ingest", "10000", "30")))


def test_two_hundred_nodes_on_sqlite(tmp_path: Path) -> None:
    show("\n" + told("SQLite, 200 nodes", run(tmp_path, "", "ingest", "200", "60")))


def test_a_day_and_one_series_of_it_on_postgresql(postgres: str, tmp_path: Path) -> None:
    _print_day("PostgreSQL", run(tmp_path, postgres, "day", "16"))


def test_a_day_and_one_series_of_it_on_sqlite(tmp_path: Path) -> None:
    _print_day("SQLite", run(tmp_path, "", "day", "16"))


def _print_day(where: str, done: dict[str, Any]) -> None:
    assert done["same"]
    show(
        f"\n{where}, a generated day: {done['bytes']:.2f} bytes a sample, {per_sample(done['whole'])} with rows and"
        f" index (a row with its index on PostgreSQL {done['row_bytes'] or '?'}); as minutes {done['minutes']:.2f},"
        f" as hours {done['hours']:.3f}; one series of 2,880 samples in"
        f" {done['read'] * 1000:.2f} ms, {done['objects']:.0f} times as fast as its rows as objects,"
        f" {done['pairs']:.0f} times as fast as its rows as tuples"
    )


@pytest.mark.parametrize("kind", ["planetlab-cpu", "mobile-bandwidth"])
def test_bytes_a_sample_of_real_traces(kind: str, postgres: str, tmp_path: Path) -> None:
    files = [str(path) for path in sorted((TRACES / kind).glob("*"))]
    if not files:
        pytest.skip("The recorded traces are not here.")
    for where, url in (("PostgreSQL", postgres), ("SQLite", "")):
        done = run(tmp_path, url, "traces", *files)
        show(f"\n{where}, {kind}: {len(files)} series, {done['samples']:,} samples, {done['bytes']:.2f} bytes a sample")


def per_sample(size: float | None) -> str:
    return "?" if size is None else f"{size:.2f}"
