"""CG's sparse matrix, exactly that of the NAS Parallel Benchmarks, built block by block in numpy.

A = sum over i of w(i) x(i) x(i)^T + (rcond - shift) I, with x(i) sparse random vectors and w(i) falling
geometrically from 1 to rcond. Source: RNR-94-007 section 2.3, and makea, sprnvc, vecset and sparse of the
MPI version. Every rank draws all vectors (one stream of random numbers) and keeps the products of its block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gridportal.workloads.randlc import Stream

SEED = 314159265
RCOND = 0.1
DIAGONAL = 0.5
CHUNK = 4096

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """n sparse vectors of up to k = nonzeros + 1 entries; both arrays (n, k); a value of 0 is no entry."""

    places: Indices
    values: Floats


class Block:
    """A block of a sparse matrix in compressed rows; columns count from the block's first."""

    def __init__(self, rows: int, starts: Indices, columns: Indices, values: Floats) -> None:
        self.rows = rows
        self.columns = columns.astype(np.intp)
        self.values = values
        lengths = np.diff(starts)
        # reduceat gives an empty row its neighbour's element instead of 0: leave empty rows out.
        self._filled = np.flatnonzero(lengths)
        self._starts = starts[:-1][self._filled]
        self._products = np.empty(len(values))

    def times(self, vector: Floats, out: Floats) -> Floats:
        """block . vector into `out`, shape (rows,)."""
        np.take(vector, self.columns, out=self._products, mode="clip")
        self._products *= self.values
        if len(self._filled) == self.rows:
            return np.add.reduceat(self._products, self._starts, out=out)
        out.fill(0.0)
        if len(self._filled):
            out[self._filled] = np.add.reduceat(self._products, self._starts)
        return out


def make_block(size: int, nonzeros: int, shift: float, rows: range, columns: range) -> Block:
    """The block `rows` x `columns` of the matrix of order `size` (makea)."""
    vectors = make_vectors(size, nonzeros)
    weights = _geometric(size)
    parts = [
        _products(vectors.places[i : i + CHUNK], vectors.values[i : i + CHUNK], weights[i : i + CHUNK], rows, columns)
        for i in range(0, size, CHUNK)
    ]
    parts.append(_diagonal(rows, columns, RCOND - shift))
    keys, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _assemble(keys, values, len(rows), len(columns))


def make_vectors(size: int, nonzeros: int) -> Vectors:
    """All sparse vectors (sprnvc), each with its own place set to 1/2 (vecset)."""
    places, draws = _accepted_draws(size, size * nonzeros)
    starts, repeats = _row_starts(places, size, nonzeros)
    window = starts[:, None] + np.arange(nonzeros)
    rows = Vectors(
        places=np.hstack([places[window], np.arange(size)[:, None]]),
        values=np.hstack([draws[window], np.full((size, 1), DIAGONAL)]),
    )
    for row, chosen in repeats.items():
        rows.places[row, :-1] = places[chosen]
        rows.values[row, :-1] = draws[chosen]
    own = rows.places[:, :-1] == np.arange(size)[:, None]
    rows.values[:, :-1][own] = DIAGONAL
    rows.values[own.any(axis=1), -1] = 0.0
    return rows


def _accepted_draws(size: int, needed: int) -> tuple[Indices, Floats]:
    """Pairs (place below `size`, value) in the order of the stream: some more than `needed`."""
    span = 1 << (size - 1).bit_length()
    stream = Stream(SEED)
    stream.draw(1)  # NPB draws one number before it makes the matrix
    wanted = int((needed * 1.05 + 1000) * span / size)
    pairs = stream.draw(2 * wanted).reshape(-1, 2)
    places = (pairs[:, 1] * span).astype(np.int64)
    accepted = places < size
    return places[accepted], pairs[accepted, 0]


def _row_starts(places: Indices, size: int, nonzeros: int) -> tuple[Indices, dict[int, Indices]]:
    """Where each vector starts among the draws, and the draws of those that met a place twice.

    A place met again within a vector is thrown away, so that vector takes more than `nonzeros` draws.
    """
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(places, nonzeros), axis=1)
    repeated = (windows[:, 1:] == windows[:, :-1]).any(axis=1).tolist()
    starts = np.empty(size, dtype=np.int64)
    repeats: dict[int, Indices] = {}
    at = 0
    for row in range(size):
        starts[row] = at
        if repeated[at]:
            repeats[row] = _first_distinct(places, at, nonzeros)
            at = int(repeats[row][-1]) + 1
        else:
            at += nonzeros
    return starts, repeats


def _first_distinct(places: Indices, at: int, count: int) -> Indices:
    seen: dict[int, int] = {}
    while len(seen) < count:
        seen.setdefault(int(places[at]), at)
        at += 1
    return np.array(list(seen.values()), dtype=np.int64)


def _geometric(size: int) -> Floats:
    """1, q, q^2, .. with q^size = RCOND, multiplied up one by one as NPB does."""
    factors = np.full(size, RCOND ** (1.0 / size))
    factors[0] = 1.0
    return np.cumprod(factors)


def _products(places: Indices, values: Floats, weights: Floats, rows: range, columns: range) -> tuple[Indices, Floats]:
    """The elements of w x x^T inside the block, as (row * width + column, value)."""
    in_row = (places >= rows.start) & (places < rows.stop) & (values != 0.0)
    in_column = (places >= columns.start) & (places < columns.stop) & (values != 0.0)
    keys = (places - rows.start)[:, None, :] * len(columns) + (places - columns.start)[:, :, None]
    elements = values[:, None, :] * (weights[:, None] * values)[:, :, None]
    inside = in_row[:, None, :] & in_column[:, :, None]
    return keys[inside], elements[inside]


def _diagonal(rows: range, columns: range, value: float) -> tuple[Indices, Floats]:
    both = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop), dtype=np.int64)
    return (both - rows.start) * len(columns) + (both - columns.start), np.full(len(both), value)


def _assemble(keys: Indices, values: Floats, height: int, width: int) -> Block:
    """Elements in any order, some at the same place, as compressed rows with their sums (sparse)."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    places = keys[first]
    sums = np.add.reduceat(values, first) if len(first) else values
    starts = np.searchsorted(places, np.arange(height + 1, dtype=np.int64) * width)
    return Block(height, starts.astype(np.int64), places % width, sums)
