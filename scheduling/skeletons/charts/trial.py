"""What the skeleton predicts for each candidate group as a Plotly figure; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def figure(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A bar for each group with predicted seconds, the taken one in the accent; None when there is nothing to draw."""
    shown = [row for row in rows if row["predicted"] is not None]
    if not shown:
        return None
    names = [f"group {row['place'] + 1}" for row in shown]
    values = [round(row["predicted"], 3) for row in shown]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": values,
                "y": names,
                "marker": {"color": ["--accent" if row["taken"] else "--r3" for row in shown]},
                "text": [f"{value:.3g} s" for value in values],
                "textposition": "auto",
                "cliponaxis": False,
                "customdata": [" ".join(row["nodes"]) for row in shown],
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
