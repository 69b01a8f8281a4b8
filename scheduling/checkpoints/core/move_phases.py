"""What a move took, phase by phase (Migration 2003, table I)."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """When what happened, in Unix seconds; None where nobody knows. `restored` and `stopped` are of the program's
    clock, the others of the portal's."""

    asked: float
    starting: float
    running: float | None
    stopped: float | None
    restored: float | None
    now: float


@dataclass(frozen=True, slots=True)
class MovePhases:
    """Seconds. `other`: all that is in none of the phases, such as waiting for the program to hear of the request.
    `paused`: for how long nothing was computed; the phases before the stop do not count there."""

    writing: float | None
    telemetry: float | None
    information: float | None
    schedule: float | None
    other: float
    start: float
    reading: float | None
    total: float
    paused: float | None

    def columns(self) -> dict[str, float | None]:
        """By the names of their columns."""
        return asdict(self)


def phases(
    at: MoveTimes,
    *,
    writing: float | None,
    reading: float | None,
    before: tuple[float | None, float | None, float | None],
) -> MovePhases:
    """The phases of a move that is done. `before`: seconds of waiting for telemetry, of resource information, and of
    the new schedule. Clocks may differ: no phase is below zero.

    >>> found = phases(MoveTimes(0.0, 10.0, 11.0, 9.0, 20.0, 21.0), writing=2.0, reading=4.0, before=(1.0, 0.5, 0.5))
    >>> found.start, found.other, found.total, found.paused
    (6.0, 6.0, 20.0, 13.0)
    """
    computes = at.restored if at.restored is not None else at.running if at.running is not None else at.now
    total = max(0.0, computes - at.asked)
    start = max(0.0, computes - at.starting - (reading or 0.0))
    spent = sum(each or 0.0 for each in (writing, *before, start, reading))
    paused = None if at.stopped is None else max(0.0, computes - at.stopped + (writing or 0.0))
    return MovePhases(writing, *before, max(0.0, total - spent), start, reading, total, paused)
