"""QR factorization of a square matrix in panels, right-looking, as PDGEQRF of ScaLAPACK does it.

R takes the place of the upper triangle, the reflectors that of what is below; the right-hand side is reduced with the
matrix. A panel is reduced by the grid column that has it, then its reflectors go along the rows of the grid, and every
grid column applies them to its own columns behind.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.dense.block_matrix import BlockMatrix
from gridportal.workloads.dense.process_grid import Floats
from gridportal.workloads.dense.reflectors import Panel, apply_reflectors


def qr_step(matrix: BlockMatrix, right: BlockMatrix, begin: int) -> int:
    """Reduce the panel that begins at column `begin`; returns where the next one begins. Collective."""
    end = matrix.panel_end(begin)
    reflectors = _reduced(matrix, begin, end)
    top = matrix.row_from(begin)
    behind = matrix.local[top:, matrix.column_from(end) :]
    apply_reflectors(matrix.grid, reflectors, [behind, right.local[top:]])
    return end


def qr_operations(size: int) -> float:
    """Floating-point operations for a square matrix of `size`."""
    return 4.0 / 3.0 * float(size) ** 3


def _reduced(matrix: BlockMatrix, begin: int, end: int) -> Floats:
    """Reduce columns `begin` to `end`; the reflectors in the rows of this rank, from row `begin` on."""
    top, owner = matrix.row_from(begin), matrix.grid_column(begin)
    if matrix.grid.column == owner:
        place = slice(matrix.column_from(begin), matrix.column_from(end))
        panel = np.asfortranarray(matrix.local[top:, place])
        reflectors = Panel(matrix.grid, panel, matrix.own_rows[top:], begin).reduce()
        matrix.local[top:, place] = panel
    else:
        reflectors = np.empty((len(matrix.own_rows) - top, end - begin))
    return matrix.grid.send_along_row(reflectors, owner)
