"""The Grid of Migration 2003, table II, or a part of it, scaled so that minutes of the paper are seconds.

Three scales go together. A minute of the paper is about `MINUTE` seconds on nodes of one processor, and twice that on
nodes of two, which are half as large a part of this machine each: what the first run without load takes says it, where
the paper says how many minutes that took. Matrices have `SIZE` times the rows, so that QR takes about as long by that
clock as in the paper. The network is as much faster as data of that size need to take the same part of the whole: SIZE
squared times the bytes in a sixtieth of such a minute.

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
#: Rows of a matrix here, for each row in the paper.
SIZE = 0.45
#: What table I is multiplied by. To start a program takes as long for a small matrix as for a large one, and on nodes
#: of two processors as on others, so that by time alone the worst case would be better than what moves here take; in
#: the paper it is twice that.
COST = 2.0 * MINUTE / 60.0


def seconds_a_minute(processors: int) -> float:
    """About how long a minute of the paper takes here on nodes of so many processors.

    >>> seconds_a_minute(2)
    2.2
    """
    return MINUTE * processors


def network_factor(processors: int) -> float:
    """How many times faster the network is than that of the paper."""
    return SIZE**2 / (seconds_a_minute(processors) / 60.0)


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


def write(folder: Path, nodes: Collection[str], *, processors: int) -> Path:
    """The file of a topology with these compute nodes of the whole one, each with so many processors."""
    document = bounded_json.loads(topologies.find(WHOLE).read_bytes())
    kept = [_node(each, processors) for each in document["nodes"] if each["id"] in nodes or each["kind"] == "network"]
    names = {each["id"] for each in kept}
    time, faster = seconds_a_minute(processors) / 60.0, network_factor(processors)
    links = [_link(each, time, faster) for each in document["links"] if {each["source"], each["target"]} <= names]
    file = folder / "topology.json"
    file.write_text(json.dumps({**document, "nodes": kept, "links": links}), encoding="utf-8")
    return file


def _node(node: dict[str, Any], processors: int) -> dict[str, Any]:
    return node if node["kind"] == "network" else {**node, "cpus": processors}


def _link(link: dict[str, Any], time: float, faster: float) -> dict[str, Any]:
    rate = link["capacity"] * faster
    return {**link, "capacity": rate, "bandwidth": rate, "latency": link["latency"] * time}
