"""Who may overtake the oldest job that waits for nodes: nodes are kept for it, and shorter jobs fill the gap.

Source: the rule of the EASY scheduler (Lifka 1995), which reserves for the first job in line only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reservation:
    """`at`: when enough nodes are free at the latest, Unix seconds; None when no time limits tell. `spare`: how many
    nodes are free then beyond those that are needed."""

    at: float | None
    spare: int = 0


def reserve(needed: int, free: int, ends: Iterable[float | None]) -> Reservation:
    """For a job that needs more nodes than are free; `ends` has one entry for each node in use.

    >>> reserve(3, 1, [50.0, None, 20.0, 50.0])
    Reservation(at=50.0, spare=1)
    >>> reserve(3, 1, [50.0, None])
    Reservation(at=None, spare=0)
    """
    sorted_ends = sorted(end for end in ends if end is not None)
    missing = needed - free
    if missing > len(sorted_ends):
        return Reservation(None)
    at = sorted_ends[missing - 1]
    return Reservation(at, free + sum(end <= at for end in sorted_ends) - needed)


def may_overtake(reservation: Reservation, nodes: int, ends: float | None) -> bool:
    """Whether a job that would hold `nodes` until `ends` (None: nobody knows) leaves the reservation as it is."""
    if reservation.at is None:
        return False
    return nodes <= reservation.spare or (ends is not None and ends <= reservation.at)
