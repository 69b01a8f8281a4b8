"""Where the names of nodes stand on a map: where lines do not cross them, and with room at the edge."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from monitoring.status.charts.layout import Places

#: Plotly's places with the direction in which each lies, in degrees, counted from the right against the clock.
_PLACES: Mapping[str, float] = {
    "middle right": 0.0,
    "middle left": 180.0,
    "top center": 90.0,
    "bottom center": 270.0,
    "top right": 45.0,
    "top left": 135.0,
    "bottom left": 225.0,
    "bottom right": 315.0,
}
#: A line that is off by so many degrees leaves the name free.
_FREE = 40.0
#: Pixels of a letter at the size of the names, and what a name keeps off the edge; room at a side from, to.
_LETTER, _GAP = 7.0, 16.0
_LEAST, _MOST = 72, 132


def name_places(at: Places, ends: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each node the place of its name: outwards where no line of it crosses that, else where lines are farthest.

    >>> name_places({"a": (0.0, 0.0), "b": (0.0, 1.0)}, [("a", "b")])
    {'a': 'bottom center', 'b': 'top center'}
    """
    lines: defaultdict[str, list[float]] = defaultdict(list)
    for a, b in ends:
        if a in at and b in at and at[a] != at[b]:
            lines[a].append(_angle(at[a], at[b]))
            lines[b].append(_angle(at[b], at[a]))
    return {name: _place(_outwards(*spot), lines[name]) for name, spot in at.items()}


def room_for_names(traces: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The margins of a map in pixels, so that names at its sides are not cut."""
    longest = {"left": 0, "right": 0}
    for trace in traces:
        for text, place in zip(trace.get("text", ()), trace.get("textposition", ()), strict=True):
            side = str(place).split()[1]
            if side in longest:
                longest[side] = max(longest[side], *(len(line.strip()) for line in str(text).split("<br>")))
    left, right = (int(min(_MOST, max(_LEAST, _GAP + _LETTER * count))) for count in longest.values())
    return {"l": left, "r": right, "t": 40, "b": 28}


def _place(usual: str, lines: Sequence[float]) -> str:
    if _clear(usual, lines) >= _FREE:
        return usual
    return max(_PLACES, key=lambda place: _clear(place, lines))


def _clear(place: str, lines: Sequence[float]) -> float:
    """Degrees between a place and the line that is nearest to it."""
    return min((abs((line - _PLACES[place] + 180.0) % 360.0 - 180.0) for line in lines), default=180.0)


def _outwards(x: float, y: float) -> str:
    if abs(x) > 0.55 * math.hypot(x, y):
        return "middle right" if x > 0 else "middle left"
    return "top center" if y >= 0 else "bottom center"


def _angle(start: tuple[float, float], end: tuple[float, float]) -> float:
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
