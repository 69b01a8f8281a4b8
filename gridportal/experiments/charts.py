"""What figures of experiments are drawn with, as Plotly takes it. Colours are tokens of the pages' themes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.statistics import spread

#: Traces under `data` and the `layout` of a Plotly figure.
Figure = dict[str, Any]
#: Light to dark in the order of the methods, so that they differ without colour too.
BAR_COLOURS = ("--a4", "--r2", "--r3", "--r4", "--a1")
MARK_COLOURS = ("--r3", "--a1", "--a3", "--r2", "--a2", "--risk", "--good")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
#: Plotly takes null for 0 and draws the caps of a whisker; what is no number it leaves out.
_NO_WHISKER = "none"


def has_marks(figure: Figure) -> bool:
    """Whether there is anything to draw."""
    return any(len(trace["x"]) for trace in figure["data"])


def bars(name: str, values: Mapping[str, Mapping[str, float]], colour: str) -> dict[str, Any]:
    """A trace of bars in per cent from estimates of fractions, with their intervals."""
    estimates = list(values.values())
    reach = [_reach(value) for value in estimates]
    return {
        "type": "bar",
        "name": name,
        "x": list(values),
        "y": [_percent(value["mean"]) for value in estimates],
        "marker": {"color": colour},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high for _, high in reach],
            "arrayminus": [low for low, _ in reach],
            "color": "--ink",
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": f"%{{x}}, {name}: %{{y:.1f}} %<extra></extra>",
    }


def layout(title: str, across: str = "") -> dict[str, Any]:
    """A layout whose upward axis has this title; `across` is that of the other, where it has figures."""
    return {
        "barmode": "group",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "yaxis": {"title": {"text": title}, "zeroline": True},
        "xaxis": {"title": {"text": across}, "rangemode": "tozero"} if across else {"showgrid": False},
        "margin": {"l": 56, "r": 8, "t": 40, "b": 56},
    }


def _reach(value: Mapping[str, float]) -> tuple[float | str, float | str]:
    """How far the interval goes below and above the mean."""
    ends = spread(value)
    if ends is None:
        return _NO_WHISKER, _NO_WHISKER
    return _percent(value["mean"] - ends[0]), _percent(ends[1] - value["mean"])


def _percent(value: float) -> float:
    return round(100 * value, 2)
