"""MG's right-hand side: 1 at the ten points with the largest random numbers, -1 at those with the smallest.

Source: NAS Parallel Benchmarks, MPI version of MG (zran3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gridportal.workloads.mg_levels import Level, Triple, position, process_grid
from gridportal.workloads.randlc import MASK, MODULUS, MULTIPLIER, Floats, States, jump, powers

if TYPE_CHECKING:
    from mpi4py import MPI

SEED = 314159265
EACH = 10

Candidate = tuple[int, int]  # state of the generator, number of the point


def own_points(rank: int, ranks: int, level: Level) -> tuple[range, range, range]:
    """Which points of the finest level, along z, y and x, are those of `rank`."""
    places = zip(position(rank, process_grid(ranks)), level.axes, strict=True)
    z, y, x = (range(at * axis.length, (at + 1) * axis.length) for at, axis in places)
    return z, y, x


def place_charges(comm: MPI.Intracomm, level: Level, field: Floats) -> None:
    """Set the charges that lie in this rank's part of `field`, shape level.shape; halos are left alone. Collective."""
    own = own_points(comm.Get_rank(), comm.Get_size(), level)
    smallest, largest = _candidates(own, level.points)
    everyone = comm.allgather((smallest, largest))
    least = sorted(candidate for one, _ in everyone for candidate in one)[:EACH]
    most = sorted(candidate for _, one in everyone for candidate in one)[-EACH:]
    for chosen, charge in ((least, -1.0), (most, 1.0)):
        for _, number in chosen:
            z, y, x = _point(number, level.points)
            if z in own[0] and y in own[1] and x in own[2]:
                field[z - own[0].start + 1, y - own[1].start + 1, x - own[2].start + 1] = charge


def _point(number: int, points: int) -> Triple:
    return number // points**2, number // points % points, number % points


def _candidates(own: tuple[range, range, range], points: int) -> tuple[list[Candidate], list[Candidate]]:
    """The ten smallest and the ten largest states among the points of this rank, in rising order."""
    smallest: list[Candidate] = []
    largest: list[Candidate] = []
    for z in own[0]:
        numbers = (z * points + np.array(own[1])[:, None]) * points + np.array(own[2])
        states, numbers = _plane_states(z, own[1], own[2], points).ravel(), numbers.ravel()
        count = min(EACH, len(states))
        order = np.argpartition(states, (count - 1, len(states) - count))
        smallest = sorted(smallest + _pairs(states, numbers, order[:count]))[:EACH]
        largest = sorted(largest + _pairs(states, numbers, order[-count:]))[-EACH:]
    return smallest, largest


def _pairs(states: States, numbers: np.ndarray, which: np.ndarray) -> list[Candidate]:
    return list(zip(states[which].tolist(), numbers[which].tolist(), strict=True))


def _plane_states(z: int, rows: range, columns: range, points: int) -> States:
    """The generator's state at each point of one plane, x running fastest; shape (len(rows), len(columns))."""
    first = jump(SEED, points * (rows.start + points * z))
    by_row = np.ones(len(rows), dtype=np.uint64)
    by_row[1:] = powers(len(rows), pow(MULTIPLIER, points, MODULUS))[: len(rows) - 1]
    by_column = powers(columns.stop)[columns.start :]
    starts = by_row * np.uint64(first) & MASK
    return starts[:, None] * by_column & MASK
