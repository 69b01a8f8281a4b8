"""Small networks for tests, as node-link documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def crossbar(rates: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Pairs with rates in Mbit/s."""
    names = sorted({name for pair in rates for name in pair})
    links = [
        {"source": a, "target": b, "capacity": max(200, rate) * 1e6, "bandwidth": rate * 1e6}
        for (a, b), rate in rates.items()
    ]
    return {
        "directed": True,
        "graph": {"name": "small", "kind": "pairs"},
        "nodes": [{"id": name} for name in names],
        "links": links,
    }


def chain() -> dict[str, Any]:
    """a - switch - router - b, with 155, 100 and 20 Mbit/s; c hangs on the switch with 40."""
    ends = [("a", "sw", 155e6), ("c", "sw", 40e6), ("sw", "r", 100e6), ("r", "b", 20e6)]
    return {
        "directed": False,
        "graph": {"name": "chain", "kind": "links"},
        "nodes": [
            {"id": "a"},
            {"id": "b"},
            {"id": "c"},
            {"id": "sw", "kind": "network", "role": "switch"},
            {"id": "r", "kind": "network", "role": "router"},
        ],
        "links": [{"source": a, "target": b, "capacity": rate} for a, b, rate in ends],
    }


def dumbbell() -> dict[str, Any]:
    """a and b - s - t - c and d: 40 Mbit/s at the ends, and 60 left of 155 in the middle, which no pair alone uses."""
    ends = [("a", "s"), ("b", "s"), ("c", "t"), ("d", "t")]
    switches = [{"id": name, "kind": "network", "role": "switch"} for name in "st"]
    middle = {"source": "s", "target": "t", "capacity": 155e6, "bandwidth": 60e6}
    return {
        "directed": False,
        "graph": {"name": "dumbbell", "kind": "links"},
        "nodes": [*({"id": name} for name in "abcd"), *switches],
        "links": [*({"source": a, "target": b, "capacity": 155e6, "bandwidth": 40e6} for a, b in ends), middle],
    }


def few_nodes(folder: Path, count: int = 3) -> Path:
    """The file, in `folder`, of a crossbar of n1, n2 and so on: each node of a Grid takes its time to start."""
    names = [f"n{number}" for number in range(1, count + 1)]
    file = folder / f"{count}-nodes.json"
    rates = {(one, other): 100.0 for one in names for other in names if one != other}
    file.write_text(json.dumps(crossbar(rates)), encoding="utf-8")
    return file
