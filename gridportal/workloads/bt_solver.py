"""BT's solver: alternating directions, block-tridiagonal systems along x, then y, then z.

Source: NAS Parallel Benchmarks, RNR-94-007 section 3.7; adi, x_solve, y_solve, z_solve and add of the MPI
version.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.bt_cells import Partition
from gridportal.workloads.bt_exchange import Exchange
from gridportal.workloads.bt_lines import Lines
from gridportal.workloads.cfd.block import squares
from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.cfd.flow import residual


class Solver:
    """The fields of one rank's cells, and their steps."""

    def __init__(self, partition: Partition, exchange: Exchange, step: float) -> None:
        self._partition = partition
        self._exchange = exchange
        self._step = step
        self._exact = [cell.exact_field() for cell in partition.cells]
        self._forcing = [residual(*pair) for pair in zip(partition.cells, self._exact, strict=True)]
        self._fields = [cell.first_field() for cell in partition.cells]
        self._changes: list[Floats] = []

    def right_hand_side(self) -> None:
        """Faces, then the residual of every cell."""
        self._exchange.faces(self._fields)
        self._changes = [
            residual(cell, field) - forcing
            for cell, field, forcing in zip(self._partition.cells, self._fields, self._forcing, strict=True)
        ]

    def solve(self, axis: int) -> None:
        """One direction's systems: through all slices forwards, then back; 0 keeps the surface as it is."""
        part = self._partition
        if axis == 0:
            for change in self._changes:
                change *= self._step
        solved: list[tuple[Lines, Floats]] = []
        for stage in range(part.side):
            cell = part.at_stage(axis, stage)
            lines = Lines(part.cells[cell], self._fields[cell], axis, self._step)
            right = np.moveaxis(self._changes[cell], axis, 0)
            solved.append((lines, right))
            self._forwards(axis, stage, lines, right)
        for stage in reversed(range(part.side)):
            self._backwards(axis, stage, *solved[stage])
        self._exchange.finish()

    def _forwards(self, axis: int, stage: int, lines: Lines, right: Floats) -> None:
        before = np.zeros((*lines.across, 5, 6))
        if stage > 0:
            self._exchange.receive(before, axis, up=True)
        before = lines.eliminate(right, before)
        if stage < self._partition.side - 1:
            self._exchange.send(before, axis, up=True)

    def _backwards(self, axis: int, stage: int, lines: Lines, right: Floats) -> None:
        after = np.zeros((*lines.across, 5))
        if stage < self._partition.side - 1:
            self._exchange.receive(after, axis, up=False)
        after = lines.substitute(right, after)
        if stage > 0:
            self._exchange.send(after, axis, up=False)

    def add(self) -> None:
        """Add the change to the field of every cell."""
        for cell, field, change in zip(self._partition.cells, self._fields, self._changes, strict=True):
            field[cell.window()] += change

    def residual_squares(self) -> Floats:
        """Sums over this rank's points of the squared residual, (5,); needs `right_hand_side` before."""
        sums: Floats = np.sum([squares(change) for change in self._changes], axis=0)
        return sums

    def error_squares(self) -> Floats:
        """Sums over this rank's points of the squared difference to the exact solution, (5,)."""
        sums: Floats = np.sum(
            [
                squares(exact[cell.window()] - field[cell.window()])
                for cell, exact, field in zip(self._partition.cells, self._exact, self._fields, strict=True)
            ],
            axis=0,
        )
        return sums
