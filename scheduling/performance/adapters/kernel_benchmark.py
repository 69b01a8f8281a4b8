"""Benchmarks of the kernels of programs: `python -m scheduling.performance.adapters.kernel_benchmark` prints the
rates of one processor of this machine as JSON.

Times are of the processor, so that others who compute meanwhile hardly change them; the best of several counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gridportal.workloads.dense.block_matrix import subtract_product
from gridportal.workloads.dense.matrix_entries import entries
from gridportal.workloads.dense.pivoted_panel import PivotedPanel
from gridportal.workloads.dense.process_grid import Floats
from gridportal.workloads.dense.reflectors import Panel
from gridportal.workloads.heat_stencil import sweep
from scheduling.performance.core.kernel_rates import KernelRates

_BLOCK, _TRIES = 64, 5
#: Rows and columns of a matrix that is larger than what an allocator keeps.
_NEW = (2048, 2304)
#: Sides of square blocks that a stencil sweeps over: from what is hardly any work to what no cache holds.
_SIDES = (16, 64, 128, 256, 512, 1024, 2048)


def measure() -> KernelRates:
    """The rates, in this process."""
    fill = _fill()  # before others use memory
    column, column_row = _line(_reduced)
    pivot, pivot_row = _line(_eliminated)
    return KernelRates(
        product=_product(_BLOCK),
        narrow=_product(_BLOCK // 2),
        column=column,
        column_row=column_row,
        pivot=pivot,
        pivot_row=pivot_row,
        move=_move(),
        fill=fill,
        check=_best(lambda: entries(np.arange(64), np.arange(1024))) / (64 * 1024),
        sweeps=tuple((float(side * side), _sweep(side)) for side in _SIDES),
    )


def _product(inner: int, side: int = 1200) -> float:
    """Flop/s of what updates the matrix behind a panel, which is a part of a larger one."""
    left, right, whole = np.ones((side, inner)), np.full((inner, side), 1e-9), np.zeros((side + 64, side + 64))
    return 2.0 * side * side * inner / _best(lambda: subtract_product(whole[64:, 64:], left, right))


def _move(rows: int = _BLOCK, columns: int = 1024) -> float:
    """Seconds to take one element out of rows that lie apart, and to put it elsewhere."""
    local, columns_taken = np.zeros((8 * rows, columns + _BLOCK)), np.arange(columns)
    sources, targets = np.arange(0, 8 * rows, 8), np.arange(3, 8 * rows, 8)

    def move() -> None:
        local[np.ix_(targets, columns_taken)] = local[np.ix_(sources, columns_taken)]

    return _best(move) / (rows * columns)


class _Alone:
    """A grid of one rank, whose messages cost nothing."""

    rows = row = 0

    def sum_in_column(self, values: Floats) -> Floats:
        """The same."""
        return values

    def gather_in_column(self, values: Floats) -> Floats:
        """A row of it."""
        return values[None].copy()

    def send_along_column(self, values: Floats, row: int) -> Floats:
        """The same."""
        return values


_ALONE: Any = _Alone()


def _reduced(held: Floats) -> None:
    Panel(_ALONE, held, np.arange(len(held)), 0).reduce()


def _eliminated(held: Floats) -> None:
    PivotedPanel(_ALONE, held, np.arange(len(held)), 0, 0).eliminate()


def _line(panel: Callable[[Floats], None]) -> tuple[float, float]:
    """Seconds for a column of a panel, and for each of its rows besides."""
    short, long = (_of_panel(panel, rows) / _BLOCK for rows in (512, 4096))
    row = max(long - short, 0.0) / (4096 - 512)
    return max(short - 512 * row, 0.0), row


def _of_panel(panel: Callable[[Floats], None], rows: int) -> float:
    whole = np.asfortranarray(np.random.default_rng(1).random((rows, _BLOCK)))
    return _best(lambda: panel(whole.copy(order="F"))) - _best(lambda: whole.copy(order="F"))


def _fill() -> float:
    """Seconds to make one element of a matrix in new memory, which the first time alone shows."""
    rows, columns = _NEW
    strip, began = 2**18 // columns, time.process_time()
    local = np.zeros((rows, columns))
    for at in range(0, rows, strip):
        local[at : at + strip] = entries(np.arange(at, min(at + strip, rows)), np.arange(columns))
    return (time.process_time() - began) / (rows * columns)


def _sweep(side: int) -> float:
    """Seconds of one sweep over a square block, which lies within its halo."""
    block, total = np.ones((side + 2, side + 2)), np.empty((side, side))
    return _best(lambda: sweep(block, total))


def _best(work: Callable[[], object]) -> float:
    """Seconds of the processor for one time, the least of several tries of 20 ms each."""
    work()
    best = float("inf")
    for _ in range(_TRIES):
        count, began, passed = 0, time.process_time(), 0.0
        while passed < 0.02:
            work()
            count, passed = count + 1, time.process_time() - began
        best = min(best, passed / count)
    return best


if __name__ == "__main__":
    json.dump(measure().document(), sys.stdout)
