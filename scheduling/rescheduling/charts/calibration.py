"""Predicted gains against real ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduling.rescheduling.models import MoveDecision

_MOST_POINTS = 500


def figure(decisions: Iterable[MoveDecision]) -> dict[str, Any] | None:
    """Predicted gain against the real one of each move, in percent; None while no move is verified."""
    points = [
        (each, each.gain, each.outcome["gain"])
        for each in decisions
        if each.gain is not None and isinstance(each.outcome.get("gain"), int | float)
    ][:_MOST_POINTS]
    if not points:
        return None
    low = min(0.0, *(min(predicted, real) for _, predicted, real in points)) * 100
    high = max(max(predicted, real) for _, predicted, real in points) * 100
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "x": [low, high], "y": [low, high], "line": {"color": "--rule"}},
            {
                "type": "scatter",
                "mode": "markers",
                "x": [round(predicted * 100, 1) for _, predicted, _ in points],
                "y": [round(real * 100, 1) for _, _, real in points],
                "marker": {"color": "--accent", "size": 8},
                "customdata": [each.pk for each, _, _ in points],
                "hovertemplate": "decision %{customdata}: %{x} % predicted, %{y} % real<extra></extra>",
            },
        ],
        "layout": {
            "showlegend": False,
            "xaxis": {"title": {"text": "predicted gain, %"}},
            "yaxis": {"title": {"text": "real gain, %"}},
            "margin": {"l": 56, "r": 12, "t": 8, "b": 40},
        },
    }
