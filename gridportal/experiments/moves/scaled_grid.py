"""The Grid of Migration 2003, table II, or a part of it, scaled so that minutes of the paper are seconds.

Three scales go together. A minute of the paper is about `MINUTE` seconds: what the first run without load takes says
it exactly, where the paper says how many minutes that took. Matrices have `SIZE` times the rows, so that QR takes about
as long by that clock as in the paper. The network is as much faster as data of that size need to take the same part of
the whole: SIZE squared times the bytes in MINUTE / 60 of the time.

Nodes have the speeds of the paper among each other, and all are held to a part of a processor of this machine, so that
they keep what they have while all are busy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

from gridportal.base import bounded_json
from gridportal.testbed import topologies

WHOLE = "grads-whole"
#: Seconds that a minute of the paper takes here.
MINUTE = 1.1
TIME = MINUTE / 60.0
#: Rows of a matrix here, for each row in the paper.
SIZE = 0.45
NETWORK = SIZE**2 / TIME
#: What table I is multiplied by, for each second that a second of the paper takes. To start a program takes as long for
#: a small matrix as for a large one, so that by time alone the worst case would be better than what moves here take; in
#: the paper it is twice that.
COST = 2.0


def rows(size: int) -> int:
    """The rows of a matrix that has `size` in the paper.

    >>> rows(12_000)
    5400
    """
    return round(size * SIZE)


def busy_processes(number: int) -> int:
    """How many leave a rank of a node of one processor the part that it has beside `number` on a node of two.

    The paper's programs use one processor of two (8), so that a rank has two of number + 1 parts there.

    >>> [busy_processes(number) for number in (3, 5, 7, 10, 20)]
    [1, 2, 3, 5, 10]
    """
    return math.ceil((number - 1) / 2)


def write(folder: Path, nodes: Collection[str], *, processors: int | None = None) -> Path:
    """The file of a topology with these compute nodes of the whole one; `processors`: of each, where not its own."""
    document = bounded_json.loads(topologies.find(WHOLE).read_bytes())
    kept = [_node(each, processors) for each in document["nodes"] if each["id"] in nodes or each["kind"] == "network"]
    names = {each["id"] for each in kept}
    links = [_link(each) for each in document["links"] if {each["source"], each["target"]} <= names]
    file = folder / "topology.json"
    file.write_text(json.dumps({**document, "nodes": kept, "links": links}), encoding="utf-8")
    return file


def _node(node: dict[str, Any], processors: int | None) -> dict[str, Any]:
    if node["kind"] == "network":
        return node
    return {**node, "cpus": processors or node["cpus"]}


def _link(link: dict[str, Any]) -> dict[str, Any]:
    rate = link["capacity"] * NETWORK
    return {**link, "capacity": rate, "bandwidth": rate, "latency": link["latency"] * TIME}
