"""LU factorization with partial pivoting of a square matrix in panels, right-looking, as PDGETRF of ScaLAPACK does it.

U takes the place of the upper triangle, the multipliers of L that of what is below, in the order that pivoting gave the
rows; the right-hand side is eliminated with the matrix. The grid column that has a panel eliminates it, and sends it
along the rows of the grid. Every grid column exchanges rows, solves for its rows of U, and updates what is behind.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.dense.block_matrix import BlockMatrix, subtract_product
from gridportal.workloads.dense.pivoted_panel import PivotedPanel, solve_unit_lower
from gridportal.workloads.dense.process_grid import Floats, Places


def lu_step(matrix: BlockMatrix, right: BlockMatrix, begin: int) -> int:
    """Eliminate the panel that begins at column `begin`; returns where the next one begins. Collective."""
    end = matrix.panel_end(begin)
    panel, pivots = _eliminated(matrix, begin, end)
    places, sources = moves(pivots, begin)
    mine = slice(matrix.column_from(begin), matrix.column_from(end))  # these rows are exchanged already
    others = np.delete(np.arange(matrix.local.shape[1]), mine)
    _move_rows(matrix, matrix.local, others, places, sources)
    _move_rows(matrix, right.local, np.arange(right.local.shape[1]), places, sources)
    _update(matrix, right, panel, begin, end)
    return end


def lu_operations(size: int) -> float:
    """Floating-point operations for a square matrix of `size`."""
    return 2.0 / 3.0 * float(size) ** 3


def moves(pivots: Floats, begin: int) -> tuple[Places, Places]:
    """All exchanges together: the places that get another row, and where each of these rows was.

    `pivots`: with which row those from `begin` on were exchanged, one after the other.

    >>> [each.tolist() for each in moves(np.array([7.0, 6.0, 7.0]), 5)]
    [[5, 7], [7, 5]]
    """
    rows = {row: row for row in {*range(begin, begin + len(pivots)), *map(int, pivots)}}
    for at, pivot in enumerate(map(int, pivots), begin):
        rows[at], rows[pivot] = rows[pivot], rows[at]
    moved = [(place, source) for place, source in sorted(rows.items()) if place != source]
    both = np.array(moved, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _eliminated(matrix: BlockMatrix, begin: int, end: int) -> tuple[Floats, Floats]:
    """Columns `begin` to `end` eliminated, in the rows of this rank from row `begin` on; and the rows exchanged."""
    top, owner = matrix.row_from(begin), matrix.grid_column(begin)
    panel: Floats = np.empty((len(matrix.own_rows) - top, end - begin))
    pivots: Floats = np.empty(end - begin)
    if matrix.grid.column == owner:
        place = slice(matrix.column_from(begin), matrix.column_from(end))
        held = np.asfortranarray(matrix.local[top:, place])
        own_rows, diagonal = matrix.own_rows[top:], matrix.grid_row(begin)
        pivots = PivotedPanel(matrix.grid, held, own_rows, begin, diagonal).eliminate()
        panel[:] = matrix.local[top:, place] = held
    return matrix.grid.send_along_row(panel, owner), matrix.grid.send_along_row(pivots, owner)


def _move_rows(
    matrix: BlockMatrix,
    local: Floats,
    columns: Places,
    places: Places,
    sources: Places,
) -> None:
    """Let row places[i] be what row sources[i] was, in these columns of `local`. Each grid column for itself."""
    here, block = matrix.grid.row, matrix.block
    senders, receivers = (rows // block % matrix.grid.rows for rows in (sources, places))
    sent, received = np.flatnonzero(senders == here), np.flatnonzero(receivers == here)
    sent = sent[np.argsort(receivers[sent], kind="stable")]
    received = received[np.argsort(senders[received], kind="stable")]
    outgoing = local[np.ix_(np.searchsorted(matrix.own_rows, sources[sent]), columns)]
    incoming = matrix.grid.exchange_in_column(outgoing, receivers[sent], senders[received])
    local[np.ix_(np.searchsorted(matrix.own_rows, places[received]), columns)] = incoming


def _update(matrix: BlockMatrix, right: BlockMatrix, panel: Floats, begin: int, end: int) -> None:
    """Find the rows of U behind the panel, and subtract what the panel says of all below them."""
    top, below, behind = matrix.row_from(begin), matrix.row_from(end), matrix.column_from(end)
    targets = (matrix.local[:, behind:], right.local)
    upper: Floats = np.empty((end - begin, sum(target.shape[1] for target in targets)))
    if matrix.grid.row == matrix.grid_row(begin):
        held = np.hstack([target[top:below] for target in targets])
        upper[:] = solve_unit_lower(panel[: below - top], held)
    matrix.grid.send_along_column(upper, matrix.grid_row(begin))
    for target, part in zip(targets, np.split(upper, [targets[0].shape[1]], axis=1), strict=True):
        if top < below:
            target[top:below] = part
        subtract_product(target[below:], panel[below - top :], part)
