"""The map of a cluster as a Plotly figure: colour is the share of the peak that is available, width is the peak."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gridportal.templatetags.units import mbit_words, step_of
from monitoring.charts.layout import Places, circle, radial

MOST_NODES = 300
MOST_LINES = 3000
SIGNS = {"compute": "circle", "network": "square"}


@dataclass(frozen=True)
class Spot:
    """A node to draw. `cpu` 0..1 or None."""

    name: str
    kind: str
    cpu: float | None


@dataclass(frozen=True)
class Wire:
    """A connection to draw: one link, or the worse of a pair's two directions. Rates in bit/s."""

    a: str
    b: str
    capacity: float
    bandwidth: float | None

    @property
    def share(self) -> float | None:
        """bwfactor: available over peak."""
        return None if self.bandwidth is None else min(1.0, self.bandwidth / self.capacity)


@dataclass(frozen=True)
class Marked:
    """What a job has taken: its nodes in rank order and the ends of its bottleneck link."""

    nodes: Sequence[str] = ()
    bottleneck: frozenset[str] = field(default_factory=frozenset)


def wires(links: Iterable[Any]) -> list[Wire]:
    """One wire per pair of nodes: of two directions the worse. `links` are rows with source, target and rates."""
    best: dict[frozenset[str], Wire] = {}
    for link in links:
        wire = Wire(link.source.name, link.target.name, link.capacity, link.bandwidth)
        key = frozenset((wire.a, wire.b))
        known = best.get(key)
        if known is None or _rank(wire) < _rank(known):
            best[key] = wire
    return list(best.values())


def places(kind: str, spots: Sequence[Spot], lines: Sequence[Wire]) -> Places:
    """Where each node is drawn."""
    names = [spot.name for spot in spots]
    if kind == "pairs":
        return circle(names)
    return radial(names, [(w.a, w.b) for w in lines], [s.name for s in spots if s.kind == "network"])


def figure(spots: Sequence[Spot], lines: Sequence[Wire], at: Places, marked: Marked) -> dict[str, Any]:
    """Lines by ramp step (worst on top), then nodes; every point carries the name of its facts as customdata."""
    peak = max((wire.capacity for wire in lines), default=1.0)
    data: list[dict[str, Any]] = []
    for step in ("4", "3", "2", "1", "0", "none"):
        for wide in sorted({wire.capacity for wire in lines}):
            part = [wire for wire in lines if _step(wire) == step and wire.capacity == wide]
            if part:
                data.append(_strokes(part, at, step, 1.5 + 4.5 * math.sqrt(wide / peak) / (1 + len(lines) / 150)))
    worst = [wire for wire in lines if frozenset((wire.a, wire.b)) == marked.bottleneck]
    data += [_outline(worst, at)] if worst else []
    data.append(_middles(lines, at))
    data += [_dots(spots, at, kind, marked) for kind in SIGNS]
    axis = {"visible": False}
    return {
        "data": [trace for trace in data if trace["x"]],
        "layout": {
            "xaxis": axis,
            "yaxis": {**axis, "scaleanchor": "x"},
            "margin": {"l": 72, "r": 72, "t": 40, "b": 28},
            "dragmode": "pan",
            "hovermode": "closest",
        },
    }


def finding(lines: Sequence[Wire], kind: str = "links") -> str:
    """One sentence: the worst path now, and how the rest is; counted by the whole percents that the tables show."""
    known = [wire for wire in lines if wire.share is not None]
    if not known:
        return "Nothing has been measured yet; the peaks are those of the topology file."
    worst = min(known, key=lambda wire: wire.share or 0.0)
    low = sum(1 for wire in known if round((wire.share or 0.0) * 100) < 50)
    rate, peak = mbit_words(worst.bandwidth or 0.0), mbit_words(worst.capacity)
    what = f"{len(known)} {'pairs, each by its worse direction,' if kind == 'pairs' else 'links'}"
    rest = f"{low} of {what} have less than half their peak" if low else f"all {what} have at least half their peak"
    return f"{worst.a}–{worst.b} is the slowest: {rate} of {peak} Mbit/s; {rest}."


def _rank(wire: Wire) -> float:
    return -1.0 if wire.share is None else wire.share


def _step(wire: Wire) -> str:
    return "none" if wire.share is None else str(step_of(wire.share))


def _strokes(part: Sequence[Wire], at: Places, step: str, width: float) -> dict[str, Any]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for wire in part:
        xs += [at[wire.a][0], at[wire.b][0], None]
        ys += [at[wire.a][1], at[wire.b][1], None]
    token = "--rule" if step == "none" else f"--a{step}"
    line = {"color": token, "width": round(width, 2)}
    return {"type": "scatter", "mode": "lines", "x": xs, "y": ys, "line": line, "hoverinfo": "skip"}


def _outline(worst: Sequence[Wire], at: Places) -> dict[str, Any]:
    return {**_strokes(worst, at, "none", 14), "opacity": 0.3, "line": {"color": "--risk", "width": 14}}


def _middles(lines: Sequence[Wire], at: Places) -> dict[str, Any]:
    """Invisible points on the lines, off the middle where lines cross, so that they can be pointed at."""
    part = 0.36
    spots = [
        (at[w.a][0] + (at[w.b][0] - at[w.a][0]) * part, at[w.a][1] + (at[w.b][1] - at[w.a][1]) * part) for w in lines
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(x, 4) for x, _ in spots],
        "y": [round(y, 4) for _, y in spots],
        "marker": {"size": 12, "opacity": 0, "color": "--rule"},
        "text": [f"{w.a}–{w.b}: {_rate(w.bandwidth)} of {_rate(w.capacity)} Mbit/s" for w in lines],
        "customdata": [f"{w.a}>{w.b}" for w in lines],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _dots(spots: Sequence[Spot], at: Places, kind: str, marked: Marked) -> dict[str, Any]:
    rows = [spot for spot in spots if spot.kind == kind]
    chosen = set(marked.nodes)
    labelled = len(spots) <= 120
    rank = {name: index for index, name in enumerate(marked.nodes)}
    names = [f"{row.name} · rank {rank[row.name]}" if row.name in chosen else _short(row.name) for row in rows]
    words = [f" {name} " for name in names]  # keeps a name beside a node off its rim
    return {
        "type": "scatter",
        "mode": "markers+text" if labelled else "markers",
        "x": [at[row.name][0] for row in rows],
        "y": [at[row.name][1] for row in rows],
        "text": words,
        "textposition": [_beside(*at[row.name]) for row in rows],
        "textfont": {"color": "--ink", "size": 12},
        "cliponaxis": False,
        "marker": {
            "opacity": 1,
            "symbol": SIGNS[kind],
            "size": [20 if row.name in chosen else 14 if len(spots) <= 60 else 8 for row in rows],
            "color": ["--accent" if row.name in chosen else "--r4" if kind == "compute" else "--soft" for row in rows],
            "line": {"color": "--paper", "width": 2},
        },
        "hovertext": [f"{row.name}: {_free(row)}" for row in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [row.name for row in rows],
    }


def _beside(x: float, y: float) -> str:
    """Where a name goes: outwards, so that lines do not cross it."""
    if abs(x) > 0.55 * math.hypot(x, y):
        return "middle right" if x > 0 else "middle left"
    return "top center" if y >= 0 else "bottom center"


def _free(row: Spot) -> str:
    if row.kind == "network":
        return "network node"
    return "processor not measured" if row.cpu is None else f"{row.cpu * 100:.0f} % of the processor free"


def _rate(value: float | None) -> str:
    return "?" if value is None else mbit_words(value)


def _short(name: str) -> str:
    return name if len(name) <= 16 else f"{name[:7]}…{name[-7:]}"


def facts_of(spots: Sequence[Spot], at: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Where each node lies, for finding it on the map."""
    return {spot.name: at[spot.name] for spot in spots}
