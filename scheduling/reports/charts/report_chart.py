"""The chart of a section as Plotly draws it; colours are tokens of the style sheet."""

from __future__ import annotations

from typing import Any

from gridportal.web.axis_ticks import whole_ticks
from scheduling.reports.report_section import Chart

_LONGEST = 28


def figure(chart: Chart) -> dict[str, Any]:
    """Bars by name, or lines over time; the time before is dotted."""
    data = _lines(chart) if chart.is_line else [_bars(chart)]
    return {
        "data": data,
        "layout": {
            "showlegend": len(data) > 1,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "xaxis": {"type": "date" if chart.is_line else "category", "automargin": True},
            "yaxis": {"title": {"text": chart.label}, "rangemode": "tozero", **_ticks(chart)},
            "margin": {"l": 56, "r": 12, "t": 40, "b": 44},
        },
    }


def _ticks(chart: Chart) -> dict[str, int]:
    return whole_ticks([0, *(int(value) for value in chart.values)]) if chart.is_count else {}


def _bars(chart: Chart) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in chart.names],
        "y": list(chart.values),
        "marker": {"color": "--r4"},
        "hovertemplate": f"%{{x}}: %{{y:,.4g}}<extra>{chart.label}</extra>",
    }


def _lines(chart: Chart) -> list[dict[str, Any]]:
    lines = [_line(chart, "this time", chart.values, "--r4", "solid")]
    if chart.before:
        lines.append(_line(chart, "time before", chart.before, "--a1", "dot"))
    return lines


def _line(chart: Chart, name: str, values: tuple[float, ...], colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines" if len(values) > 1 else "markers",
        "name": name,
        "x": list(chart.names),
        "y": list(values),
        "line": {"color": colour, "dash": dash},
        "hovertemplate": f"%{{x}}: %{{y:,.4g}}<extra>{name}</extra>",
    }
