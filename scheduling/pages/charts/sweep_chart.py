"""A figure of a sweep's jobs over one of its parameters, as Plotly draws it; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.jobs.core.sweep import point_text
from scheduling.pages.charts.axis_labels import spread
from scheduling.pages.sweep_results import SweepRow, SweepTable, label

_COLOURS = ("--r4", "--a3", "--r2", "--a1", "--accent", "--r1")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
#: So many lines can still be told from each other.
_MOST_LINES = 12


def figure(table: SweepTable, over: str, name: str) -> dict[str, Any] | None:
    """A line for each combination of the other parameters; None where no job has the figure yet."""
    lines: dict[str, list[SweepRow]] = {}
    for row in table.rows:
        if name in row.figures:
            others = {axis: value for axis, value in row.values.items() if axis != over}
            lines.setdefault(point_text(others), []).append(row)
    if not lines:
        return None
    values = table.group.values_by_axis[over]
    is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    drawn = list(lines.items())[:_MOST_LINES]
    title = f"{label(name)}, {table.units[name]}".removesuffix(", ")
    return {
        "data": [_line(place, words, rows, over, name) for place, (words, rows) in enumerate(drawn)],
        "layout": {
            "showlegend": len(drawn) > 1,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "xaxis": _axis(over, values if len(values) <= 12 else None) if is_number else _categories(over, values),
            "yaxis": {"title": {"text": title}, "rangemode": "tozero"},
            "margin": {"l": 56, "r": 12, "t": 48, "b": 44},
        },
    }


def _line(place: int, words: str, rows: Sequence[SweepRow], over: str, name: str) -> dict[str, Any]:
    colour = _COLOURS[place % len(_COLOURS)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": words or label(name),
        "x": [row.values[over] if not isinstance(row.values[over], bool) else str(row.values[over]) for row in rows],
        "y": [row.figures[name] for row in rows],
        "text": [f"job {row.job.pk}" for row in rows],
        "line": {"color": colour, "dash": "solid" if place < len(_COLOURS) else "dot"},
        "marker": {"size": 9, "symbol": _SYMBOLS[place % len(_SYMBOLS)], "color": colour},
        "hovertemplate": f"%{{x}}: %{{y:.4g}}, %{{text}}<extra>{words}</extra>",
    }


def _axis(over: str, values: Sequence[object] | None) -> dict[str, Any]:
    if not values:
        return {"title": {"text": over}}
    places = sorted(value for value in values if isinstance(value, int | float))
    labels = [f"{value:.10g}" if keep else "" for value, keep in zip(places, spread(places), strict=True)]
    return {"title": {"text": over}, "tickvals": places, "ticktext": labels, "tickangle": 0}


def _categories(over: str, values: Sequence[object]) -> dict[str, Any]:
    order = [str(value) for value in values]
    return {"title": {"text": over}, "type": "category", "categoryorder": "array", "categoryarray": order}
