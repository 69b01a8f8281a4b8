"""Performance models of dense factorizations: their steps, panel by panel, simulated on the grid of ranks.

Source: Migration 2003, 8: the model of QR simulates PDGEQRF from the benchmarks of matrix products and other kernels,
and from what messages of these sizes take on these links. A step lasts until its slowest rank is done: the ranks of one
grid column reduce the panel, it goes along the rows, and all update what is behind. Ranks compute with the share of the
processor that their node has free. Does not promise: overlap of one step with the next, caches, or memory that is
short.

Cost: O(panels x ranks), of at most `MOST_PANELS` panels, and flow queries for each column of the grid, not for each
panel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gridportal.base.checked_numbers import whole
from gridportal.network.topology import Topology
from scheduling.performance.core.grid_messages import GridMessages, MessageCost
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.phase_prediction import PhasePrediction, averages
from scheduling.performance.core.rank_grid import Floats, grid_of, processor_shares

_DOUBLE = 8
#: Of more panels so many are simulated, and the others are taken to be like those beside them.
MOST_PANELS = 2000
#: Columns of a panel that are treated one by one (`gridportal.workloads.dense`).
_FEW = 8
#: The programs that come with the portal, and how their models are called.
APPLICATIONS = {"dense-qr": "qr", "dense-lu": "lu"}


def held(begin: int, size: int, block: int, parts: int) -> Floats:
    """How many of the rows (or columns) from `begin` on each of `parts` has, dealt out in blocks.

    >>> held(4, 11, 2, 3).tolist()
    [2.0, 2.0, 3.0]
    """
    return _dealt(size, block, parts) - _dealt(begin, block, parts)


def _dealt(length: int, block: int, parts: int) -> Floats:
    """How many of the first `length` rows each part has."""
    rounds, rest = divmod(length, block * parts)
    return rounds * block + np.clip(rest - block * np.arange(parts), 0, block).astype(float)


def stride(panels: int, ranks: int) -> int:
    """Each which panel is simulated, so that they are `MOST_PANELS` at most, on all rows and columns of the grid.

    >>> stride(170, 4), stride(4096, 4)
    (1, 3)
    """
    found = -(-panels // MOST_PANELS)
    while math.gcd(found, ranks) > 1:
        found += 1
    return found


class _Step:
    """One panel: its first column, its width, rows and columns behind it on each part of the
    grid, and all columns."""

    def __init__(self, begin: int, size: int, block: int, rows: int, columns: int) -> None:
        self.width = min(block, size - begin)
        self.rows = held(begin, size, block, rows)
        self.behind = held(begin + self.width, size, block, columns)
        self.every = held(0, size, block, columns)
        self.row, self.column = begin // block % rows, begin // block % columns


class PanelModel:
    """QR or LU with these kernel rates of the reference node."""

    def __init__(self, name: str, application: str, rates: KernelRates, *, pivots: bool) -> None:
        self.name, self._application, self._rates, self._pivots = name, application, rates, pivots

    def applies(self, application: str) -> bool:
        """Whether it is the program that it simulates."""
        return application == self._application

    def predict(
        self, parameters: Mapping[str, object], nodes: Sequence[str], network: Topology
    ) -> tuple[PhasePrediction, ...]:
        """Seconds of init, panel, solve and verify. Raises InputError for a size or block that is none, or an unknown
        node, ImpossibleError for nodes without a path."""
        size = whole("size", parameters.get("size"), 1, 10_000_000)
        block = whole("block", parameters.get("block"), 1, 100_000)
        rows, columns = grid_of(len(nodes))
        shares = processor_shares(network, nodes).reshape(rows, columns)
        messages = GridMessages(network, nodes, rows, columns, self._rates.share)
        count = -(-size // block)
        panels = self._panels(size, block * stride(count, len(nodes)), block, shares, messages)
        elements = float((np.outer(held(0, size, block, rows), held(0, size, block, columns)) / shares).max())
        sums = messages.row_sum().fixed + messages.sum_of_all().fixed
        solve = count * sums + size * size / len(nodes) * 2 / (self._rates.narrow * float(shares.min()))
        return (
            PhasePrediction("init", 1, (self._rates.fill * elements,)),
            PhasePrediction("panel", count, averages(panels)),
            PhasePrediction("solve", 1, (solve,)),
            PhasePrediction("verify", 1, (self._rates.check * elements,)),
        )

    def _panels(self, size: int, every: int, block: int, shares: Floats, messages: GridMessages) -> list[float]:
        """Seconds of the panels that begin at each `every` columns."""
        rows, columns = shares.shape
        along_rows = [messages.row_broadcast(column) for column in range(columns)]
        down_columns = [messages.column_broadcast(row) for row in range(rows)]
        in_column = [messages.column_sum([column]) for column in range(columns)]
        in_all = messages.column_sum(range(columns))
        seconds = []
        for begin in range(0, size, every):
            step = _Step(begin, size, block, rows, columns)
            panel = self._panel(step, shares[:, step.column], in_column[step.column])
            sent = along_rows[step.column].of(float(step.rows.max()) * step.width * _DOUBLE)
            seconds.append(panel + sent + self._update(step, shares, in_all, down_columns[step.row]))
        return seconds

    def _panel(self, step: _Step, shares: Floats, messages: MessageCost) -> float:
        """The panel itself, on the ranks of one grid column."""
        rates, width = self._rates, step.width
        column, row = (rates.pivot, rates.pivot_row) if self._pivots else (rates.column, rates.column_row)
        computing = width * (column + row * step.rows) / shares
        if self._pivots:
            sums = width * messages.of((2 + 2 * width) * _DOUBLE)
        else:
            sums = width * messages.of(2 * _FEW * _DOUBLE) + width / _FEW * messages.of(width * width / 2 * _DOUBLE)
        return float(computing.max()) + sums

    def _update(self, step: _Step, shares: Floats, sums: MessageCost, down: MessageCost) -> float:
        """What is behind the panel, on all ranks."""
        rates, width = self._rates, step.width
        update = 2.0 * width * np.outer(step.rows, step.behind)
        triangle = width * width * step.behind * (1.0 if self._pivots else 2.0)
        inner = 0.0 if self._pivots else update + 2.0 * width * width * step.rows[:, None]
        computing = (update + inner) / rates.product + triangle[None, :] / rates.narrow
        if self._pivots:  # as many rows come from below as go there, in all columns
            computing = computing + 2 * width / len(step.rows) * rates.move * step.every
        size = width * float(step.behind.max()) * _DOUBLE
        if self._pivots:  # rows are exchanged, those of the panel go down the columns
            messages = sums.of(size) + down.of(size)
        else:
            messages = sums.of(size + width * width * _DOUBLE)
        return float((computing / shares).max()) + messages


def model_of(application: str, rates: KernelRates) -> PanelModel:
    """The model of one of APPLICATIONS."""
    return PanelModel(APPLICATIONS[application], application, rates, pivots=application == "dense-lu")
