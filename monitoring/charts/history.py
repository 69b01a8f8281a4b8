"""One measured value over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

MOST_POINTS = 1500
Point = tuple[datetime, float]


def figure(points: Sequence[Point], unit: str, *, scale: float = 1.0, peak: float | None = None) -> dict[str, Any]:
    """A line with its points; `peak` is drawn as a dashed limit. Values are divided by `scale` for the axis."""
    rows = thinned(points)
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(rows) <= 200 else "lines",
            "x": [at.isoformat() for at, _ in rows],
            "y": [round(value / scale, 4) for _, value in rows],
            "line": {"color": "--accent", "width": 1.5, "shape": "hv"},
            "marker": {"size": 4, "color": "--accent"},
            "hovertemplate": f"%{{x|%Y-%m-%d %H:%M:%S}}: %{{y}} {unit}<extra></extra>",
        }
    ]
    layout: dict[str, Any] = {
        "xaxis": {"type": "date"},
        "yaxis": {"title": {"text": unit}, "rangemode": "tozero"},
        "margin": {"l": 56, "r": 12, "t": 12, "b": 32},
    }
    if peak is not None:
        line = {"color": "--rule", "width": 1, "dash": "dash"}
        ends = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": peak / scale, "y1": peak / scale}
        layout["shapes"] = [{**ends, "line": line}]
    return {"data": data, "layout": layout}


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most MOST_POINTS: of each stretch its lowest and highest value, in their order."""
    if len(points) <= MOST_POINTS:
        return list(points)
    stretch = -(-2 * len(points) // MOST_POINTS)
    kept: list[Point] = []
    for start in range(0, len(points), stretch):
        part = points[start : start + stretch]
        low, high = min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])
        kept += sorted({low, high})
    return kept


def finding(points: Sequence[Point], shown: Any, over: str) -> str:
    """One sentence: now, lowest and highest. `shown` turns a value into words with its unit."""
    if not points:
        return f"No reading in the {over}."
    values = [value for _, value in points]
    return (
        f"{shown(values[-1])} at the last of {len(points)} readings in the {over}; "
        f"lowest {shown(min(values))}, highest {shown(max(values))}."
    )
