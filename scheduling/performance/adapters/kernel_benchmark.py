"""Benchmarks of the kernels of programs: `python -m scheduling.performance.adapters.kernel_benchmark` prints the
rates of one processor of this machine as JSON.

Times are of the processor, so that others who compute meanwhile hardly change them; the best of several counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np

from gridportal.workloads.dense.block_matrix import subtract_product
from gridportal.workloads.dense.matrix_entries import entries
from gridportal.workloads.heat_stencil import sweep
from scheduling.performance.core.kernel_rates import KernelRates

_BLOCK, _FEW, _TRIES = 64, 8, 5
#: Sides of square blocks that a stencil sweeps over: from what is hardly any work to what no cache holds.
_SIDES = (16, 64, 128, 256, 512, 1024, 2048)


def measure() -> KernelRates:
    """The rates, in this process."""
    long, short = _column(4096), _column(512)
    column_row = max(long - short, 0.0) / (4096 - 512)
    return KernelRates(
        product=_product(_BLOCK),
        narrow=_product(_BLOCK // 2),
        column=max(short - 512 * column_row, 0.0),
        column_row=column_row,
        move=_move(),
        fill=_fill(512, 512),
        check=_fill(64, 1024),
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


def _column(rows: int) -> float:
    """Seconds to reduce a column with those beside it: inner products, and the product that is subtracted."""
    held = np.asfortranarray(np.ones((rows, _FEW)))

    def reduce() -> None:
        x = held[:, 0]
        products = np.concatenate([x @ held, np.zeros(_FEW)])
        held[:, 1:] -= np.multiply.outer(x, products[1:_FEW] * 1e-9)

    return _best(reduce)


def _fill(rows: int, columns: int) -> float:
    """Seconds to make one element of so many at a time."""
    return _best(lambda: entries(np.arange(rows), np.arange(columns))) / (rows * columns)


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
