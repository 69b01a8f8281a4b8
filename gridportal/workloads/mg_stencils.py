"""MG's four operators on the points of one rank; halos in are right, halos out are left to the exchange.

Fields have shape (z, y, x) with a halo of one point. All are worked off in strips of rows that stay in the
processor's cache. Source: NAS Parallel Benchmarks, RNR-94-007 (kernel MG: A, S, P, Q), and the MPI version
of MG (resid, psinv, rprj3, interp).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gridportal.workloads.randlc import Floats

# By which a point, its 6 neighbours by face, 12 by edge and 8 by corner count.
A = (-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0)
Coefficients = tuple[float, float, float, float]
STRIP = 1 << 14  # points


class Strips:
    """Sums over neighbours for a strip of rows at a time, as flat arrays over whole rows.

    Rows run into each other, so the halo columns hold nothing of use. `edges` and `faces` have a point more
    at both ends, for the neighbours along x.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._planes, self._rows, self._width = shape
        self._height = max(1, min(self._rows - 2, STRIP // self._width))
        longest = self._height * self._width
        self._beside = np.empty(longest + 2 * self._width)
        self._faces, self._edges = np.zeros(longest + 2), np.zeros(longest + 2)
        self._sum, self._term = np.empty(longest), np.empty(longest)

    def each(self, field: Floats) -> Iterator[tuple[int, slice, Floats, Floats, Floats, Floats, Floats]]:
        """Plane, points in the flat plane, then centre, faces, edges and two arrays to work in."""
        planes, width = field.reshape(self._planes, -1), self._width
        for plane in range(1, self._planes - 1):
            for row in range(1, self._rows - 1, self._height):
                end = min(row + self._height, self._rows - 1)
                points, around = slice(row * width, end * width), slice((row - 1) * width, (end + 1) * width)
                length = points.stop - points.start
                beside = self._beside[: length + 2 * width]
                faces, edges = self._faces[: length + 2], self._edges[: length + 2]
                np.add(planes[plane - 1, around], planes[plane + 1, around], out=beside)
                np.add(beside[: -2 * width], beside[2 * width :], out=edges[1:-1])
                np.add(beside[width:-width], planes[plane, around][: -2 * width], out=faces[1:-1])
                faces[1:-1] += planes[plane, around][2 * width :]
                yield plane, points, planes[plane], faces, edges, self._sum[:length], self._term[:length]


def residual(strips: Strips, u: Floats, v: Floats, r: Floats) -> None:
    """r = v - A u; `r` may be `v`."""
    flat_v, flat_r = v.reshape(len(v), -1), r.reshape(len(r), -1)
    for plane, points, centre, faces, edges, total, term in strips.each(u):
        np.add(faces[:-2], faces[2:], out=total)
        total += edges[1:-1]
        total *= A[2]
        np.add(edges[:-2], edges[2:], out=term)
        term *= A[3]
        total += term
        np.multiply(centre[points], A[0], out=term)
        total += term
        np.subtract(flat_v[plane, points], total, out=flat_r[plane, points])


def smooth(strips: Strips, r: Floats, u: Floats, c: Coefficients) -> None:
    """u += S r; c[3] counts as 0, which it is in all classes."""
    flat_u = u.reshape(len(u), -1)
    for plane, points, centre, faces, edges, total, term in strips.each(r):
        np.add(faces[:-2], faces[2:], out=total)
        total += edges[1:-1]
        total *= c[2]
        np.add(centre[points.start - 1 : points.stop - 1], centre[points.start + 1 : points.stop + 1], out=term)
        term += faces[1:-1]
        term *= c[1]
        total += term
        np.multiply(centre[points], c[0], out=term)
        total += term
        flat_u[plane, points] += total


def restrict(fine: Floats, coarse: Floats) -> None:
    """coarse = P fine, the weighted mean of the 27 points around each second one."""
    planes, rows, columns = (_centres(length) for length in fine.shape)
    for target, plane in enumerate(planes, start=1):
        beside = fine[plane - 1] + fine[plane + 1]
        middle = fine[plane]
        total = _shifted(beside, rows, -1) + _shifted(beside, rows, 1)
        total *= 0.5
        total += _shifted(beside, rows, 0)
        total += _shifted(middle, rows, -1)
        total += _shifted(middle, rows, 1)
        total *= 0.5
        total += _shifted(middle, rows, 0)
        total *= 0.5
        total = total.T
        result = _shifted(total, columns, -1) + _shifted(total, columns, 1)
        result *= 0.5
        result += _shifted(total, columns, 0)
        coarse[target, 1:-1, 1:-1] = result.T


def _centres(length: int) -> range:
    """The points, halo counted, that have a point of the coarser level: each second, or the only one."""
    return range(1, 2) if length == 3 else range(2, length, 2)


def _shifted(rows: Floats, centres: range, by: int) -> Floats:
    return rows[centres.start + by : centres[-1] + by + 1 : centres.step]


def interpolate(coarse: Floats, fine: Floats) -> None:
    """fine += Q coarse, linear along each axis; the halo of `fine` comes out right as well."""
    _, height, width = fine.shape
    rows, across = np.empty((height, coarse.shape[2])), np.empty((height, width))
    for plane, (one, other) in zip(fine, _sources(len(fine)), strict=True):
        between = coarse[one] if one == other else 0.5 * (coarse[one] + coarse[other])
        _stretch(between, rows)
        _stretch(rows.T, across.T)
        plane += across


def _sources(length: int) -> list[tuple[int, int]]:
    """For each point of the finer level, the two of the coarser one that it lies between, or twice the one below."""
    if length == 3:
        return [(0, 1), (1, 1), (1, 2)]
    return [(index // 2, (index + 1) // 2) for index in range(length)]


def _stretch(coarse: Floats, fine: Floats) -> None:
    """Linear interpolation along the first axis."""
    means = 0.5 * (coarse[:-1] + coarse[1:])
    if len(fine) == 3:
        fine[0], fine[1], fine[2] = means[0], coarse[1], means[1]
        return
    fine[0::2], fine[1::2] = coarse[:-1], means
