"""Forwarding tables behind the output of ibnetdiscover say which way the traffic goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.network.importers import read
from gridportal.network.routes import Routes
from gridportal.network.topology import dump, parse

HERE = Path(__file__).parent
FABRIC = (HERE / "fabric.ibnetdiscover").read_text(encoding="utf-8")
TABLES = (HERE / "fabric.lfts").read_text(encoding="utf-8")


def way(text: str, source: str, target: str) -> tuple[str, ...] | None:
    routes = Routes(read(text, "fabric").believed())
    path = routes.path(source, target)
    return None if path is None else routes.nodes(source, path)


def test_without_tables_the_first_spine_carries_all() -> None:
    assert way(FABRIC, "node01", "node05") == ("node01", "ib-leaf01", "ib-spine01", "ib-leaf02", "node05")
    assert way(FABRIC, "node01", "node06") == ("node01", "ib-leaf01", "ib-spine01", "ib-leaf02", "node06")


def test_tables_lead_each_target_over_its_spine() -> None:
    assert way(FABRIC + TABLES, "node01", "node05") == ("node01", "ib-leaf01", "ib-spine02", "ib-leaf02", "node05")
    assert way(FABRIC + TABLES, "node01", "node06") == ("node01", "ib-leaf01", "ib-spine01", "ib-leaf02", "node06")
    assert way(FABRIC + TABLES, "node01", "node02") == ("node01", "ib-leaf01", "node02")


def test_a_target_that_a_table_does_not_have_cannot_be_reached() -> None:
    lines = [line for line in TABLES.splitlines() if not ("node06" in line and line.startswith("0x000f 031"))]
    assert way(FABRIC + "\n".join(lines), "node01", "node06") is None
    assert way(FABRIC + "\n".join(lines), "node05", "node06") == ("node05", "ib-leaf02", "node06")


def test_a_topology_with_tables_comes_back_from_its_file() -> None:
    fabric = read(FABRIC + TABLES, "fabric").believed()
    assert parse(dump(fabric)) == fabric
    assert set(fabric.routing.tables) == {"ib-leaf01", "ib-leaf02", "ib-spine01", "ib-spine02"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0x000f 031 :", "0x000f 040 :", "port 040"),
        ("0xb8cef60300000150: 'node06", "0xb8cef6030000ffff: 'node06", "0xb8cef6030000ffff"),
        ("guid 0xb8cef603000000b0 (", "guid 0xb8cef603000000ff (", "0xb8cef603000000ff"),
        ("0x000f 031 : (Channel", "0x000f 031 (Channel", "a row such as"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_with_its_line(old, new, said) -> None:
    assert old in TABLES
    problems = [str(problem) for problem in read(FABRIC + TABLES.replace(old, new), "fabric").problems]
    assert problems
    assert said in problems[0]
    assert problems[0].startswith("line ")


def test_tables_that_lead_in_a_circle_are_refused() -> None:
    at = TABLES.index("ib-spine02:MQM8700/U1):")
    circle = TABLES[:at] + TABLES[at:].replace("0x000e 003 :", "0x000e 001 :", 1)
    (problem,) = read(FABRIC + circle, "fabric").problems
    assert "tables that lead to node05, not in a circle" in str(problem)
