"""The map of a cluster as a Plotly figure: colour and width are the part of a link's peak that is in use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Protocol

from gridportal.base.rank_places import ranks_of
from gridportal.web.templatetags.state_marks import step_of
from gridportal.web.templatetags.units import mbit_text
from monitoring.status.charts.layout import Places, circle, radial
from monitoring.status.charts.name_places import name_places, room_for_names

MOST_NODES = 2500
MOST_LINES = 6000
#: A crossbar of many nodes has a line for every pair: then only so many of those most in use are drawn.
MOST_PAIRS = 600
MOST_HOVERED = 600
#: Width by step of what is in use, in pixels; busy links are thick.
WIDTHS = (7.0, 5.4, 3.8, 2.5, 1.5)
#: What is drawn fainter where a job's pairs stand on top, and how wide these are, in pixels.
FAINT, PAIR_WIDTH = 0.3, 3.0
#: Peaks from here on, in bit/s, are compared as they are shown; rounded to 0.1 Mbit/s lower ones would say nothing.
_ROUNDED_FROM = 1e6
#: So many ranks are named on a node.
MOST_RANKS = 4
#: Of more nodes the names would cover each other.
_MOST_NAMED = 120
SIGNS = {"compute": "circle", "network": "square"}


class Figured(Protocol):
    """A link with its figures, as monitoring.status.selectors.picture has it."""

    @property
    def source(self) -> str: ...

    @property
    def target(self) -> str: ...

    @property
    def capacity(self) -> float: ...

    @property
    def bandwidth(self) -> float | None: ...

    @property
    def stale(self) -> bool: ...


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
    stale: bool = False

    @property
    def share(self) -> float | None:
        """bwfactor: available over peak."""
        return None if self.bandwidth is None else min(1.0, self.bandwidth / self.capacity)


@dataclass(frozen=True)
class MarkedGroup:
    """A group of nodes on the map. `nodes`: rank by rank; `pairs`: those that talk, each with the bit/s it gets and
    the peak of what holds it."""

    nodes: Sequence[str] = ()
    pairs: Sequence[Wire] = ()

    @cached_property
    def ranks(self) -> Mapping[str, str]:
        """The ranks on each node, in words: 'ranks 0, 1, 3'."""
        return {name: f"{'rank' if len(at) == 1 else 'ranks'} {_some(at)}" for name, at in ranks_of(self.nodes).items()}


@dataclass(frozen=True)
class Marked:
    """What a job has taken: its group, the ends of its bottleneck link, and another candidate beside it."""

    group: MarkedGroup = MarkedGroup()
    bottleneck: frozenset[str] = field(default_factory=frozenset)
    beside: MarkedGroup = MarkedGroup()

    @property
    def nodes(self) -> Sequence[str]:
        """Of the job's group, rank by rank."""
        return self.group.nodes


def wires(links: Iterable[Figured]) -> list[Wire]:
    """One wire per pair of nodes: of two directions the worse."""
    best: dict[frozenset[str], Wire] = {}
    for link in links:
        wire = Wire(link.source, link.target, link.capacity, link.bandwidth, link.stale)
        key = frozenset((wire.a, wire.b))
        better = best.get(key)
        if better is None or _rank(wire) < _rank(better):
            best[key] = wire
    return list(best.values())


def drawn(lines: Sequence[Wire], kind: str, marked: Marked) -> list[Wire]:
    """What there is room for: all, or of very many pairs those that are most in use and a job's bottleneck."""
    if kind != "pairs" or len(lines) <= MOST_PAIRS:
        return list(lines)
    kept = sorted((wire for wire in lines if wire.share is not None), key=_rank)[:MOST_PAIRS]
    held = [wire for wire in lines if frozenset((wire.a, wire.b)) == marked.bottleneck and wire not in kept]
    return kept + held


def places(kind: str, spots: Sequence[Spot], lines: Sequence[Wire]) -> Places:
    """Where each node is drawn; kept, because it changes with the structure only."""
    names = tuple(spot.name for spot in spots)
    if kind == "pairs":
        return circle(names)
    ends = tuple((wire.a, wire.b) for wire in lines)
    return _radial(names, ends, tuple(spot.name for spot in spots if spot.kind == "network"))


def figure(
    spots: Sequence[Spot],
    lines: Sequence[Wire],
    at: Places,
    marked: Marked,
    hover_texts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Lines by what is in use (busiest on top), then nodes; every point carries the name of its facts as customdata.

    `hover_texts`: what pointing at a node or at the link "a>b" shows, where it is more than its rate.
    """
    crowd = 1 / (1 + len(lines) / 250)
    faint = FAINT if marked.group.pairs or marked.beside.pairs else 1.0
    data: list[dict[str, Any]] = []
    for step in ("none", "4", "3", "2", "1", "0"):
        for stale in (False, True):
            part = [wire for wire in lines if _step(wire) == step and wire.stale == stale]
            if part:
                width = 1.0 if step == "none" else max(0.6, WIDTHS[int(step)] * crowd)
                data.append({**_strokes(part, at, step, width, dotted=stale or step == "none"), "opacity": faint})
    worst = [wire for wire in lines if frozenset((wire.a, wire.b)) == marked.bottleneck]
    data = ([_outline(worst, at)] if worst else []) + data
    data += _pairs(marked.group, at, dotted=False) + _pairs(marked.beside, at, dotted=True)
    data.append(_middles(lines, at, hover_texts or {}))
    if marked.beside.nodes:
        data.append(_rings(marked.beside, at))
    beside = name_places(at, [(wire.a, wire.b) for wire in (*lines, *marked.group.pairs)]) if _named(spots) else {}
    dots = [_dots(spots, at, kind, marked, hover_texts or {}, beside) for kind in SIGNS]
    data += dots
    axis = {"visible": False}
    return {
        "data": [trace for trace in data if trace["x"]],
        "layout": {
            "xaxis": axis,
            "yaxis": {**axis, "scaleanchor": "x"},
            "margin": room_for_names(dots) if _named(spots) else {"l": 8, "r": 8, "t": 32, "b": 8},
            "dragmode": "pan",
            "hovermode": "closest",
            "uirevision": "map",
        },
    }


def finding(lines: Sequence[Wire], kind: str = "links", *, past: bool = False) -> str:
    """One sentence: the worst path, and how the rest is; what is less than half is told by rates as they are shown."""
    measured = [wire for wire in lines if wire.share is not None]
    if not measured and past:
        return "Nothing was measured at that time or is kept of it; choose a later moment, or go back to now."
    if not measured:
        return "Nothing has been measured yet; the peaks are those of the topology file."
    is_ = "was" if past else "is"
    worst = min(measured, key=lambda wire: wire.share or 0.0)
    low = sum(1 for wire in measured if _is_low(wire))
    rate, peak = mbit_text(worst.bandwidth or 0.0), mbit_text(worst.capacity)
    what = f"{len(measured)} {'pairs, each by its worse direction,' if kind == 'pairs' else 'links'}"
    offer = "offered" if past else "offers" if low == 1 else "offer"
    their = "its" if low == 1 else "their"
    rest = f"{low} of {what} {offer} less than half of {their} peak"
    if not low:
        rest = f"all {what} {offer} at least half of their peak"
    old = sum(1 for wire in measured if wire.stale)
    stale = f"; {old} of the figures {'is' if old == 1 else 'are'} stale" if old else ""
    if round((worst.share or 0.0) * 100) >= 100:
        who = f"All {what} {offer} what they" if len(measured) > 1 else f"{worst.a}–{worst.b} offers what it"
        return f"{who} {'could' if past else 'can'}{stale}."
    return f"{worst.a}–{worst.b} {is_} the slowest: {rate} of {peak} Mbit/s; {rest}{stale}."


def _is_low(wire: Wire) -> bool:
    """Whether it offers less than half of its peak, in steps of 0.1 Mbit/s as rates are shown."""
    rate, peak = wire.bandwidth or 0.0, wire.capacity
    return 2 * round(rate, -5) < round(peak, -5) if peak >= _ROUNDED_FROM else 2 * rate < peak


@lru_cache(maxsize=8)
def _radial(names: tuple[str, ...], ends: tuple[tuple[str, str], ...], middle: tuple[str, ...]) -> Places:
    return radial(names, ends, middle)


def _rank(wire: Wire) -> float:
    return -1.0 if wire.share is None else wire.share


def _step(wire: Wire) -> str:
    return "none" if wire.share is None else str(step_of(wire.share))


def _strokes(part: Sequence[Wire], at: Places, step: str, width: float, *, dotted: bool = False) -> dict[str, Any]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for wire in part:
        xs += [at[wire.a][0], at[wire.b][0], None]
        ys += [at[wire.a][1], at[wire.b][1], None]
    line = {"color": "--rule" if step == "none" else f"--a{step}", "width": round(width, 2)}
    if dotted:
        line["dash"] = "dot"
    return {"type": "scatter", "mode": "lines", "x": xs, "y": ys, "line": line, "hoverinfo": "skip"}


def _pairs(group: MarkedGroup, at: Places, *, dotted: bool) -> list[dict[str, Any]]:
    """Straight lines between the nodes of the pairs that talk, by what they get; the slowest on top."""
    pairs = [pair for pair in group.pairs if pair.a in at and pair.b in at]
    steps = {step: [pair for pair in pairs if _step(pair) == step] for step in ("none", "4", "3", "2", "1", "0")}
    shown = [_strokes(part, at, step, PAIR_WIDTH, dotted=dotted) for step, part in steps.items() if part]
    return [*shown, _points(pairs, at)] if pairs else []


def _points(pairs: Sequence[Wire], at: Places) -> dict[str, Any]:
    """What pointing at the middle of a pair's line tells."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round((at[pair.a][0] + at[pair.b][0]) / 2, 4) for pair in pairs],
        "y": [round((at[pair.a][1] + at[pair.b][1]) / 2, 4) for pair in pairs],
        "marker": {"size": 12, "opacity": 0, "color": "--rule"},
        "text": [f"{pair.a}–{pair.b}, of the job: {_rate(pair.bandwidth)} Mbit/s" for pair in pairs],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _rings(group: MarkedGroup, at: Places) -> dict[str, Any]:
    """Rings around the nodes of another candidate."""
    names = [name for name in group.ranks if name in at]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [at[name][0] for name in names],
        "y": [at[name][1] for name in names],
        "marker": {"symbol": "circle-open", "size": 30, "color": "--ink", "line": {"color": "--ink", "width": 2}},
        "hoverinfo": "skip",
    }


def _outline(worst: Sequence[Wire], at: Places) -> dict[str, Any]:
    return {**_strokes(worst, at, "none", 16), "opacity": 0.3, "line": {"color": "--risk", "width": 16}}


def _middles(lines: Sequence[Wire], at: Places, hover_texts: Mapping[str, str]) -> dict[str, Any]:
    """Invisible points on the lines, off the middle where lines cross, so that they can be pointed at."""
    part = 0.36
    spots = [
        (at[w.a][0] + (at[w.b][0] - at[w.a][0]) * part, at[w.a][1] + (at[w.b][1] - at[w.a][1]) * part) for w in lines
    ]
    names = [f"{w.a}>{w.b}" for w in lines]
    plain = [f"{w.a}–{w.b}: {_rate(w.bandwidth)} of {_rate(w.capacity)} Mbit/s" for w in lines]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(x, 4) for x, _ in spots],
        "y": [round(y, 4) for _, y in spots],
        "marker": {"size": 12 if len(lines) <= MOST_HOVERED else 6, "opacity": 0, "color": "--rule"},
        "text": [hover_texts.get(name, line) for name, line in zip(names, plain, strict=True)],
        "customdata": names,
        "hovertemplate": "%{text}<extra></extra>",
        "hoverlabel": {"align": "left"},
    }


def _named(spots: Sequence[Spot]) -> bool:
    """Whether there is room for their names."""
    return len(spots) <= _MOST_NAMED


def _dots(
    spots: Sequence[Spot],
    at: Places,
    kind: str,
    marked: Marked,
    hover_texts: Mapping[str, str],
    beside: Mapping[str, str],
) -> dict[str, Any]:
    rows = [spot for spot in spots if spot.kind == kind]
    chosen = marked.group.ranks
    ringed = set(marked.beside.nodes)
    labelled = _named(spots)
    names = [_short(row.name) + (f"<br>{chosen[row.name]}" if row.name in chosen else "") for row in rows]
    sides = [beside.get(row.name, "") for row in rows]
    texts = [_kept_off(name, side, row.name in ringed) for name, side, row in zip(names, sides, rows, strict=True)]
    size = 14 if len(spots) <= 60 else 8 if len(spots) <= 400 else 5
    return {
        "type": "scatter",
        "mode": "markers+text" if labelled else "markers",
        "x": [at[row.name][0] for row in rows],
        "y": [at[row.name][1] for row in rows],
        **({"text": texts} if labelled else {}),
        **({"textposition": sides} if labelled else {}),
        "textfont": {"color": "--ink", "size": 12},
        "cliponaxis": False,
        "marker": {
            "opacity": 1,
            "symbol": SIGNS[kind],
            "size": [20 if row.name in chosen else size for row in rows],
            "color": ["--accent" if row.name in chosen else "--r4" if kind == "compute" else "--soft" for row in rows],
            "line": {"color": "--paper", "width": 2 if size > 5 else 0.5},
        },
        "hovertext": [hover_texts.get(row.name) or f"{row.name}: {_free(row)}" for row in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverlabel": {"align": "left"},
        "customdata": [row.name for row in rows],
    }


def _kept_off(name: str, place: str, ringed: bool) -> str:
    """Blanks keep a name off the rim of its node, and they and a blank line off the ring of another candidate."""
    blanks = " " * (3 if ringed else 1)
    lines = [f"{blanks}{line}{blanks}" for line in name.split("<br>")]
    if ringed and place.startswith("top"):
        lines.append(blanks)
    elif ringed and place.startswith("bottom"):
        lines.insert(0, blanks)
    return "<br>".join(lines)


def _free(row: Spot) -> str:
    if row.kind == "network":
        return "network node"
    return "processor not measured" if row.cpu is None else f"{row.cpu * 100:.0f} % of the processor free"


def _rate(value: float | None) -> str:
    return "?" if value is None else mbit_text(value)


def _some(ranks: Sequence[int]) -> str:
    shown = ranks if len(ranks) <= MOST_RANKS else [*ranks[: MOST_RANKS - 1], "…", ranks[-1]]
    return ", ".join(map(str, shown))


def _short(name: str) -> str:
    return name if len(name) <= 16 else f"{name[:7]}…{name[-7:]}"
