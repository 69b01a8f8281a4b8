"""The performance model of stencils like those of Cactus: each step computes every point, then edges are exchanged.

Source: Migration 2003, 8 (the heat equation among its programs); Set matching 2002, 3.4 (Cactus: computation per point,
and the ghost zones sent over the links). A plate of rows x columns is cut into blocks on a grid of ranks. A step lasts
as long as its slowest rank: a sweep over its block, then four messages one after the other, each as long as the
slowest of all that are sent at once. Does not promise: overlap of messages with computing.

Cost: four flow queries and O(ranks), however many steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gridportal.base.checked_numbers import whole
from gridportal.network.topology import Topology
from scheduling.performance.core.grid_messages import GridMessages
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.phase_prediction import PhasePrediction
from scheduling.performance.core.rank_grid import Floats, grid_of, processor_shares

NAME = "stencil"
_DOUBLE = 8
#: One row or column up, down, to the left, to the right.
_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))


@dataclass(frozen=True, slots=True)
class StencilProgram:
    """How a program names its rows, columns and steps, the phase that it reports, and how many reports there are at
    most."""

    rows: str = "rows"
    columns: str = "columns"
    steps: str = "steps"
    phase: str = "steps"
    reports: int = 20


#: The programs that come with the portal.
APPLICATIONS: Mapping[str, StencilProgram] = {"heat-2d": StencilProgram()}


class StencilModel:
    """A program with these rates of the reference node."""

    name = NAME

    def __init__(self, application: str, rates: KernelRates) -> None:
        self._application, self._rates = application, rates
        self._program = APPLICATIONS[application]

    def applies(self, application: str) -> bool:
        """Whether it is the program that it simulates."""
        return application == self._application

    def predict(
        self, parameters: Mapping[str, object], nodes: Sequence[str], network: Topology
    ) -> tuple[PhasePrediction, ...]:
        """Seconds of its steps. Raises InputError for points or steps that are none, or an unknown node,
        ImpossibleError for nodes without a path."""
        program = self._program
        rows = whole(program.rows, parameters.get(program.rows), 1, 10_000_000)
        columns = whole(program.columns, parameters.get(program.columns), 1, 10_000_000)
        steps = whole(program.steps, parameters.get(program.steps), 1, 10**9)
        step = self._step(rows, columns, nodes, network)
        each = math.ceil(steps / program.reports)
        reports = math.ceil(steps / each)
        return (PhasePrediction(program.phase, reports, (step * steps / reports,)),)

    def _step(self, rows: int, columns: int, nodes: Sequence[str], network: Topology) -> float:
        down, across = grid_of(len(nodes))
        shares = processor_shares(network, nodes).reshape(down, across)
        heights, widths = _pieces(rows, down), _pieces(columns, across)
        sweeps = np.array([[self._rates.sweep(height * width) for width in widths] for height in heights])
        messages = GridMessages(network, nodes, down, across, self._rates.share)
        edges = [float(widths.max()) if way[0] else float(heights.max()) for way in _WAYS]
        exchange = math.fsum(messages.halo(*way).of(edge * _DOUBLE) for way, edge in zip(_WAYS, edges, strict=True))
        return float((sweeps / shares).max()) + exchange


def _pieces(points: int, parts: int) -> Floats:
    """The points of each of nearly equal pieces."""
    return np.diff([points * part // parts for part in range(parts + 1)]).astype(float)
