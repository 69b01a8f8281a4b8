"""CG's two-dimensional process grid: who owns which block of the matrix, and who talks to whom.

Source: NAS Parallel Benchmarks 3, MPI version of CG (setup_proc_info, setup_submatrix_info). Arithmetic
only; numbers count from 0 and ranges exclude their end.
"""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.base.errors import InputError


@dataclass(frozen=True)
class Grid:
    """One rank's place in the grid of `rows` x `columns` ranks, columns == rows or 2 rows.

    The rank owns the matrix block `own_rows` x `own_columns`, and the piece `own_columns` of each vector.
    `sums` lists the partners of the sum along a grid row in the order of scalar sums; vectors are summed
    in the reverse order. `transpose` is the rank from which the rank gets its piece of A.p.
    """

    rank: int
    rows: int
    columns: int
    own_rows: range
    own_columns: range
    sums: tuple[int, ...]
    transpose: int

    @property
    def square(self) -> bool:
        return self.rows == self.columns

    @property
    def send(self) -> slice:
        """The part of the block's row sums that this rank finishes and passes on."""
        if self.square:
            return slice(0, len(self.own_rows))
        return self._half(self.rank % 2)

    @property
    def give(self) -> slice:
        """The other half, which the neighbour finishes (grids with columns == 2 rows)."""
        return self._half(1 - self.rank % 2)

    @property
    def partners(self) -> frozenset[int]:
        """The ranks that this one exchanges messages with."""
        return frozenset({*self.sums, self.transpose} - {self.rank})

    def _half(self, which: int) -> slice:
        half = len(self.own_rows) // 2
        return slice(which * half, (which + 1) * half)


def make_grid(rank: int, ranks: int, size: int) -> Grid:
    """The place of `rank` among `ranks` for a matrix of `size` rows.

    Raises InputError unless `ranks` is a power of two whose grid divides the matrix evenly.

    >>> [make_grid(rank, 4, 1400).sums + (make_grid(rank, 4, 1400).transpose,) for rank in range(4)]
    [(1, 0), (0, 2), (3, 1), (2, 3)]
    """
    exponent = ranks.bit_length() - 1
    if ranks < 1 or ranks != 1 << exponent:
        raise InputError("ranks", ranks, "a power of two such as 1, 2, 4 or 8")
    rows, columns = 1 << exponent // 2, 1 << (exponent + 1) // 2
    if size % columns:
        raise InputError("ranks", ranks, f"a smaller power of two: {size} rows do not divide by {columns}")
    row, column = divmod(rank, columns)
    return Grid(
        rank=rank,
        rows=rows,
        columns=columns,
        own_rows=_block(row, size // rows),
        own_columns=_block(column, size // columns),
        sums=_sum_partners(row, column, columns),
        transpose=_transpose_partner(rank, rows, columns),
    )


def _block(index: int, length: int) -> range:
    return range(index * length, (index + 1) * length)


def _sum_partners(row: int, column: int, columns: int) -> tuple[int, ...]:
    """Recursive halving along the grid row: first the rank half a row away, at last the neighbour."""
    partners = []
    span = columns
    while span > 1:
        partners.append(row * columns + (column + span // 2) % span + column // span * span)
        span //= 2
    return tuple(partners)


def _transpose_partner(rank: int, rows: int, columns: int) -> int:
    if rows == columns:
        return rank % rows * rows + rank // rows
    pair = rank // 2
    return 2 * (pair % rows * rows + pair // rows) + rank % 2
