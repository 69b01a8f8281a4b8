"""Runs side by side as Plotly figures: promised and real, and their phases; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gridportal.web.templatetags.units import spaced
from scheduling.pages.comparison import ComparedRun

#: One for each run of a comparison, in its order.
_COLOURS = ("--r4", "--r2", "--a1", "--a3", "--rule", "--r1")
_MOST_PHASES = 8
_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}


def times(runs: Sequence[ComparedRun]) -> dict[str, Any] | None:
    """Bars of each run: from start to end, by the program's own report, and what was promised of it. None where no run
    has a time yet."""
    wanted = {
        "from start to end": ([each.elapsed for each in runs], "--r1"),
        "program’s own time": ([each.seconds for each in runs], "--r3"),
        "promised": ([each.promised for each in runs], "--a1"),
        "predicted by its skeleton": ([each.predicted for each in runs], "--a3"),
    }
    labels = [_label(each) for each in runs]
    bars = [_bars(name, labels, values, colour) for name, (values, colour) in wanted.items() if any(values)]
    return _figure(bars) if bars else None


def phases(runs: Sequence[ComparedRun]) -> dict[str, Any] | None:
    """For each phase a bar of each run, the longest phases first; None where no run has reported any."""
    totals: dict[str, float] = {}
    for each in runs:
        for row in each.phases:
            totals[row["phase"]] = totals.get(row["phase"], 0.0) + row["seconds"]
    longest = sorted(totals, key=lambda phase: -totals[phase])[:_MOST_PHASES]
    names = [spaced(phase) for phase in longest]
    bars = []
    for each, colour in zip(runs, _COLOURS, strict=False):
        seconds = {row["phase"]: row["seconds"] for row in each.phases}
        bars.append(_bars(f"{each.name} ({each.method})", names, [seconds.get(phase) for phase in longest], colour))
    return _figure(bars) if longest else None


def _label(each: ComparedRun) -> str:
    return f"{each.name}<br>{each.method}"


def _bars(name: str, labels: list[str], seconds: Sequence[float | None], colour: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "x": labels,
        "y": [None if value is None else round(value, 4) for value in seconds],
        "marker": {"color": colour},
        "hovertemplate": f"%{{y:.4g}} s {name}<extra></extra>",
    }


def _figure(bars: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": bars,
        "layout": {
            "barmode": "group",
            "bargap": 0.28,
            "bargroupgap": 0.06,
            "showlegend": True,
            "legend": _LEGEND,
            "xaxis": {"type": "category", "showgrid": False},
            "yaxis": {"title": {"text": "s"}, "rangemode": "tozero"},
            "margin": {"l": 48, "r": 8, "t": 56, "b": 44},
        },
    }
