"""The leapfrog of the wave equation with the seven-point stencil, on planes of a box whose walls are 0; numpy alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: (speed * time step / spacing)^2; the leapfrog is stable up to 1/3.
COUPLING = 0.25
#: Points that are treated together: what a step needs of them stays in the cache.
_TOGETHER = 2**15


def chunk_of(planes: int, rows: int, columns: int) -> int:
    """How many planes are treated together.

    >>> chunk_of(200, 100, 100), chunk_of(8, 20, 20)
    (3, 8)
    """
    return min(planes, max(1, _TOGETHER // (rows * columns)))


def advance(now: Floats, before: Floats, buffer: Floats) -> None:
    """Put the next values into the place of the earlier ones, without sources.

    now, before: shape (planes + 2, rows, columns), of which the first and the last plane are read alone. buffer: shape
    (`chunk_of`, rows, columns).
    """
    planes, chunk = now.shape[0] - 2, buffer.shape[0]
    for begin in range(0, planes, chunk):
        end = min(begin + chunk, planes)
        total, center = neighbours(now, begin, end, buffer), now[begin + 1 : end + 1]
        earlier = before[begin + 1 : end + 1]
        total *= COUPLING
        np.subtract(total, earlier, out=earlier)
        np.multiply(center, 2 - 6 * COUPLING, out=total)
        earlier += total


def neighbours(field: Floats, begin: int, end: int, buffer: Floats) -> Floats:
    """The sum of the six neighbours of each point of planes `begin` to `end`, in `buffer`."""
    total, center = buffer[: end - begin], field[begin + 1 : end + 1]
    np.add(field[begin:end], field[begin + 2 : end + 2], out=total)
    total[:, 1:, :] += center[:, :-1, :]
    total[:, :-1, :] += center[:, 1:, :]
    total[:, :, 1:] += center[:, :, :-1]
    total[:, :, :-1] += center[:, :, 1:]
    return total


def energy(now: Floats, before: Floats, buffer: Floats) -> float:
    """Of these planes between two steps; of a box with whatever is outside of it 0 it is kept but for rounding."""
    total, planes, chunk = 0.0, now.shape[0] - 2, buffer.shape[0]
    for begin in range(0, planes, chunk):
        end = min(begin + chunk, planes)
        new, old = now[begin + 1 : end + 1], before[begin + 1 : end + 1]
        curved = neighbours(before, begin, end, buffer) - 6 * old
        total += float(np.sum((new - old) ** 2) - COUPLING * np.sum(new * curved)) / 2
    return total
