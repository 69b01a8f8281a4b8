"""Seconds by number of ranks as a Plotly figure; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from scheduling.jobs.core.speedup import Point
from scheduling.pages.charts.axis_labels import spread


def figure(points: Sequence[Point]) -> dict[str, Any]:
    """A line through the known numbers of ranks, the knee in the accent, and what a perfect program would take."""
    first = points[0]
    ranks = [point.ranks for point in points]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": "twice the ranks, half the time",
                "x": ranks,
                "y": [first.seconds * first.ranks / point.ranks for point in points],
                "line": {"color": "--rule", "dash": "dot"},
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines+markers+text",
                "name": "this program",
                "x": ranks,
                "y": [point.seconds for point in points],
                "line": {"color": "--r4"},
                "marker": {
                    "size": [12 if point.is_knee else 8 for point in points],
                    "color": ["--accent" if point.is_knee else "--r4" for point in points],
                },
                "text": ["knee" if point.is_knee else "" for point in points],
                "textposition": "top center",
                "cliponaxis": False,
                "hovertemplate": "%{x} ranks: %{y:.3g} s<extra></extra>",
            },
        ],
        "layout": {
            "showlegend": False,
            "xaxis": {"title": {"text": "ranks"}, "type": "log", "tickvals": ranks, "ticktext": _labels(points)},
            "yaxis": {"title": {"text": "seconds"}, "rangemode": "tozero"},
            "margin": {"l": 48, "r": 12, "t": 16, "b": 40},
        },
    }


def _labels(points: Sequence[Point]) -> list[str]:
    """The numbers of ranks that have room; the knee's before the others."""
    knee = [at for at, point in enumerate(points) if point.is_knee]
    kept = spread([log(point.ranks) for point in points], knee)
    return [str(point.ranks) if keep else "" for point, keep in zip(points, kept, strict=True)]
