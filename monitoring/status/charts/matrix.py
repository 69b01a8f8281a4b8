"""Every ordered pair of a crossbar as a heat map: rows send, columns receive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gridportal.web.templatetags.state_marks import step_of
from gridportal.web.templatetags.units import mbit_text

MOST_NODES = 120
MOST_WRITTEN = 20
# Four bounds between five steps, so that the colours are those of the legend of the map.
SCALE = [[edge, f"--a{step}"] for step in range(5) for edge in (step / 5, (step + 1) / 5)]


def figure(names: Sequence[str], links: Iterable[Any]) -> dict[str, Any]:
    """Share of the peak per ordered pair; the text of each cell is Mbit/s where there is room for it."""
    index = {name: i for i, name in enumerate(names)}
    share: list[list[float | None]] = [[None] * len(names) for _ in names]
    rate: list[list[str]] = [[""] * len(names) for _ in names]
    for link in links:
        row, column = index.get(link.source), index.get(link.target)
        if row is None or column is None or link.bandwidth is None:
            continue
        # Half a percent above the shown one, so that what reads 60 % has the colour of 60 to 80.
        share[row][column] = round(min(1.0, link.bandwidth / link.capacity), 2) + 0.005
        rate[row][column] = mbit_text(link.bandwidth)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": list(names),
        "y": list(names),
        "z": share,
        "text": rate,
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "%{y} to %{x}: %{text} Mbit/s<extra></extra>",
    }
    axis = {"type": "category", "showgrid": False, "ticks": ""}
    return {
        "data": [trace],
        "layout": {
            "xaxis": {**axis, "side": "top", "title": {"text": "to"}},
            "yaxis": {**axis, "autorange": "reversed", "title": {"text": "from"}},
            "margin": {"l": 48, "r": 8, "t": 48, "b": 8},
            "annotations": _cells(names, share, rate) if len(names) <= MOST_WRITTEN else [],
        },
    }


def _cells(names: Sequence[str], share: list[list[float | None]], rate: list[list[str]]) -> list[dict[str, Any]]:
    """Mbit/s in each cell, in the ink that is readable on its step."""
    return [
        {
            "x": to,
            "y": source,
            "text": rate[i][j],
            "showarrow": False,
            "font": {"size": 12, "color": f"--t{_step(part)}"},
        }
        for i, source in enumerate(names)
        for j, to in enumerate(names)
        if (part := share[i][j]) is not None
    ]


def _step(share: float) -> int:
    return step_of(share - 0.005)
