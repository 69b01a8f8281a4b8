"""What the skeleton predicts for each candidate group as a Plotly figure; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gridportal.base.rank_places import in_short
from scheduling.skeletons.core.trial_story import TriedGroup


def figure(rows: Sequence[TriedGroup]) -> dict[str, Any] | None:
    """A bar for each group with predicted seconds, the taken one in the accent; None when there is nothing to draw."""
    shown = [(row, round(row.predicted, 3)) for row in rows if row.predicted is not None]
    if not shown:
        return None
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [value for _, value in shown],
                "y": [f"group {row.place + 1}" for row, _ in shown],
                "marker": {"color": ["--accent" if row.taken else "--r3" for row, _ in shown]},
                "text": [f"{value:.3g} s" for _, value in shown],
                "textposition": "auto",
                "cliponaxis": False,
                "customdata": [in_short(row.nodes) for row, _ in shown],
                "hovertemplate": "%{customdata}: %{x:.3f} s predicted<extra></extra>",
            }
        ],
        "layout": {
            "bargap": 0.3,
            "showlegend": False,
            "xaxis": {"title": {"text": "predicted seconds"}, "rangemode": "tozero"},
            "yaxis": {"autorange": "reversed", "type": "category", "showgrid": False, "automargin": True},
            "margin": {"l": 8, "r": 12, "t": 8, "b": 40},
        },
    }
