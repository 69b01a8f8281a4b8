"""Where the figures of lines go in a picture, so that they cover neither nodes nor each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = tuple[float, float]
FROM_NODES = 26.0
FROM_LABELS = 24.0


def places(lines: Sequence[tuple[Point, Point]], nodes: Sequence[Point], wanted: float) -> list[Point]:
    """One place for each line, the first line first: the `wanted` part of its way, or another one that is free.

    >>> places([((0.0, 0.0), (200.0, 0.0))], [(0.0, 0.0), (200.0, 0.0)], 0.5)
    [(100.0, -8.0)]
    """
    taken: list[Point] = []
    for a, b in lines:
        possible = [
            (a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part - lift)
            for lift in (8, 28)
            for part in (wanted, 0.5, 0.62, 0.3, 0.7)
        ]
        rooms = [_room(place, nodes, taken) for place in possible]
        x, y = possible[next((i for i, room in enumerate(rooms) if room >= 1.0), rooms.index(max(rooms)))]
        taken.append((round(x, 1), round(y, 1)))
    return taken


def _room(place: Point, nodes: Sequence[Point], taken: Sequence[Point]) -> float:
    """How free a place is, 1 when it is free; a figure is wide and low, so across counts less."""
    beside_nodes = [math.hypot((x - place[0]) / 2, y - place[1] + 4) / FROM_NODES for x, y in nodes]
    beside_labels = [math.hypot((x - place[0]) / 4, y - place[1]) / FROM_LABELS for x, y in taken]
    return min([*beside_nodes, *beside_labels], default=1.0)
