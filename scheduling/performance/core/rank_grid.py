"""The grid of ranks that the programs make, and what each of them has of its processor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from gridportal.network.topology import Topology

Floats = NDArray[np.floating[Any]]
_LEAST_CPU = 0.01


def grid_of(ranks: int) -> tuple[int, int]:
    """Rows and columns of the grid that the programs make, as square as can be.

    >>> grid_of(4), grid_of(6), grid_of(7)
    ((2, 2), (2, 3), (1, 7))
    """
    rows = max(each for each in range(1, math.isqrt(ranks) + 1) if ranks % each == 0)
    return rows, ranks // rows


def processor_shares(network: Topology, nodes: Sequence[str]) -> Floats:
    """The effective processor of each rank. Raises InputError for an unknown node."""
    nodes_by_id = {each.id: each for each in network.nodes}
    for node in nodes:
        if node not in nodes_by_id:
            raise InputError("node", node, "a node of the cluster")
    return np.array([max(nodes_by_id[node].effective_cpu, _LEAST_CPU) for node in nodes])
