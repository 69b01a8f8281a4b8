"""Measured values over time: a line for each series, a band for its extremes, what is forecast behind and ahead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from monitoring.history.core.samples import Floats, History

MOST_POINTS = 1500
_FEW = 200
#: A gap so many times as long as usual is drawn as one: what was not measured then is not known.
_GAP = 4.0
_MEANS = {"raw": "", "minute": " (means of minutes)", "hour": " (means of hours)"}
TONES = ("--accent", "--soft", "--r3", "--faint")
Shown = Callable[[float], str]


@dataclass(frozen=True)
class Line:
    """A series to draw: its name where there are several, and its values."""

    name: str
    history: History


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of time to be seen on the charts of a series; `end` None: it lasts. `address`: the page about it.
    `level`: a value of the series that is drawn as a line over that time."""

    subject: str
    metric: str
    start: datetime
    end: datetime | None
    label: str
    address: str
    level: float | None = None


@dataclass(frozen=True)
class ForecastLine:
    """What was forecast of each moment, with the mean error then; the last of what comes next."""

    at: Floats
    value: Floats
    error: Floats


def figure(
    lines: Sequence[Line],
    unit: str,
    *,
    scale: float = 1.0,
    peak: float | None = None,
    forecast: ForecastLine | None = None,
    span: tuple[datetime, datetime] | None = None,
    marks: Sequence[Mark] = (),
) -> dict[str, Any]:
    """The lines over time, `peak` as a dashed limit, `forecast` as a band with a dotted line. Values are divided by
    `scale` for the axis. `span`: what the axis shows, so that what is missing is seen to be missing. `marks` are
    shaded, with their level as a line."""
    data: list[dict[str, Any]] = (
        _band(forecast.at, forecast.value - forecast.error, forecast.value + forecast.error, scale) if forecast else []
    )
    for place, line in enumerate(lines):
        rows = thinned(line.history)
        if place == 0 and line.history.resolution != "raw" and not forecast:
            data += _band(rows.at, rows.low, rows.high, scale)
        data.append(_trace(line, rows, place, unit, scale))
    if forecast:
        data.append(_expected(forecast, unit, scale))
    layout: dict[str, Any] = {
        "xaxis": _axis(span, forecast),
        "yaxis": {"title": {"text": unit}, "rangemode": "tozero"},
        "margin": {"l": 56, "r": 12, "t": 12, "b": 32},
        "uirevision": "history",
    }
    if len(lines) > 1 or forecast:
        legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
        layout |= {"showlegend": True, "legend": legend, "margin": {"l": 56, "r": 12, "t": 32, "b": 32}}
    if peak is not None:
        ends = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": peak / scale, "y1": peak / scale}
        layout["shapes"] = [{**ends, "line": {"color": "--rule", "width": 1, "dash": "dash"}}]
    if marks and span:
        over_time = (shape for mark in marks for shape in _over_time(mark, scale, *span))
        layout["shapes"] = [*layout.get("shapes", []), *over_time]
    return {"data": data, "layout": layout}


def thinned(history: History) -> History:
    """At most MOST_POINTS: of each stretch its lowest and highest value, in their order."""
    if len(history) <= MOST_POINTS:
        return history
    stretch = -(-2 * len(history) // MOST_POINTS)
    kept: set[int] = set()
    for start in range(0, len(history), stretch):
        part = history.value[start : start + stretch]
        kept |= {start + int(part.argmin()), start + int(part.argmax())}
    here = np.array(sorted(kept))
    low, high = history.low[here], history.high[here]
    return History(history.at[here], history.value[here], low, high, history.resolution, history.age)


def finding(history: History, shown: Shown, over: str) -> str:
    """One sentence: now, lowest and highest. `shown` turns a value into words with its unit."""
    if not len(history):
        return f"No reading in the {over}."
    if len(history) == 1:
        return f"{shown(float(history.value[0]))} at the only reading{_MEANS[history.resolution]} in the {over}."
    many = f"{len(history)} readings{_MEANS[history.resolution]}"
    return (
        f"{shown(float(history.value[-1]))} at the last of {many} in the {over}; "
        f"lowest {shown(float(history.low.min()))}, highest {shown(float(history.high.max()))}."
    )


def datetimes(at: Floats) -> list[datetime]:
    """Unix seconds as times with a zone."""
    return [datetime.fromtimestamp(one, UTC) for one in at.tolist()]


def _over_time(mark: Mark, scale: float, start: datetime, end: datetime) -> Iterator[dict[str, Any]]:
    """The whole height of the chart between the ends of a mark, within those of the axis; and its level as a line."""
    ends = _between(mark, start, end)
    place = {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    yield {**place, **ends, "fillcolor": "--risk", "opacity": 0.18, "line": {"width": 0}}
    if mark.level is not None:
        value = mark.level / scale
        line = {"color": "--risk", "width": 1.5, "dash": "dot"}
        yield {"type": "line", "xref": "x", "yref": "y", "y0": value, "y1": value, **ends, "line": line}


def _between(mark: Mark, start: datetime, end: datetime) -> dict[str, str]:
    return {"x0": max(mark.start, start).isoformat(), "x1": min(mark.end or end, end).isoformat()}


def _axis(span: tuple[datetime, datetime] | None, forecast: ForecastLine | None) -> dict[str, Any]:
    if span is None:
        return {"type": "date"}
    start, end = span
    last = datetimes(forecast.at[-1:])[0] if forecast else end
    return {"type": "date", "range": [start.isoformat(), max(end, last).isoformat()]}


def _trace(line: Line, rows: History, place: int, unit: str, scale: float) -> dict[str, Any]:
    xs, ys = _broken(rows.at, rows.value, scale)
    style: dict[str, Any] = {"color": TONES[place % len(TONES)], "width": 1.5, "shape": "hv"}
    if place % 2:
        style["dash"] = "dash"
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(rows) <= _FEW else "lines",
        "name": line.name,
        "x": xs,
        "y": ys,
        "line": style,
        "marker": {"size": 4, "color": style["color"]},
        "connectgaps": False,
        "hovertemplate": f"%{{x|%Y-%m-%d %H:%M:%S}}: %{{y}} {unit}<extra>{line.name}</extra>",
    }


def _expected(forecast: ForecastLine, unit: str, scale: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "forecast one step before",
        "x": _iso(forecast.at),
        "y": _scaled(forecast.value, scale),
        "line": {"color": "--risk", "width": 1, "dash": "dot", "shape": "hv"},
        "hovertemplate": f"%{{x|%H:%M:%S}}: %{{y}} {unit} was forecast<extra></extra>",
    }


def _band(at: Floats, low: Floats, high: Floats, scale: float) -> list[dict[str, Any]]:
    """The area between two curves."""
    finite = np.isfinite(low) & np.isfinite(high)
    common = {"type": "scatter", "mode": "lines", "x": _iso(at[finite]), "hoverinfo": "skip", "showlegend": False}
    line = {"width": 0, "shape": "hv", "color": "--r1"}
    under = {**common, "y": _scaled(np.maximum(low[finite], 0.0), scale), "line": line}
    over = {**common, "y": _scaled(high[finite], scale), "line": line, "fill": "tonexty", "fillcolor": "--r0"}
    return [under, over]


def _broken(at: Floats, value: Floats, scale: float) -> tuple[list[str | None], list[float | None]]:
    """The points, with a break where far fewer were measured than usual."""
    xs: list[str | None] = list(_iso(at))
    ys: list[float | None] = list(_scaled(value, scale))
    if len(at) > 2:
        steps = np.diff(at)
        for place in reversed(np.nonzero(steps > _GAP * max(float(np.median(steps)), 1.0))[0].tolist()):
            xs.insert(place + 1, datetime.fromtimestamp(float(at[place]) + 1e-3, UTC).isoformat())
            ys.insert(place + 1, None)
    return xs, ys


def _iso(at: Floats) -> list[str]:
    return [moment.isoformat() for moment in datetimes(at)]


def _scaled(values: Floats, scale: float) -> list[float | None]:
    return [float(f"{value / scale:.6g}") if math.isfinite(value) else None for value in values.tolist()]
