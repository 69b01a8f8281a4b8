"""The chosen nodes on a circle and the pairs of ranks that talk: width is weight, colour the share available."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 520, 280
MOST_NODES = 32
LABELLED_EDGES = 4
Candidate = Mapping[str, Any]
Peaks = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Dot:
    """A node: where it is drawn, its rank and name, and where its name goes."""

    x: float
    y: float
    rank: int
    name: str
    short: str
    label_x: float
    label_y: float
    anchor: str


@dataclass(frozen=True)
class Line:
    """A pair that talks: its ends, width and ramp step, with words for who cannot see it."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    share: float | None
    bottleneck: bool
    title: str
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True)
class Picture:
    """What the template draws; `whole` is False when there are too many nodes to draw them all."""

    dots: Sequence[Dot]
    lines: Sequence[Line]
    whole: bool
    words: str
    width: int = WIDTH
    height: int = HEIGHT


def picture(candidate: Candidate, peaks: Peaks) -> Picture:
    """Draw one candidate group. `peaks` gives the peak of an ordered pair in bit/s; the largest serves for the rest."""
    nodes = list(candidate["nodes"])
    edges = list(candidate.get("edges") or [])
    words = f"{len(nodes)} nodes in rank order: {', '.join(nodes[:16])}; {len(edges)} pairs talk"
    if len(nodes) > MOST_NODES:
        return Picture([], [], False, words)
    dots = [_dot(rank, name, len(nodes)) for rank, name in enumerate(nodes)]
    worst = _pair(candidate.get("bottleneck"))
    heaviest = max((edge.get("weight") or 1 for edge in edges), default=1)
    named = len(edges) <= LABELLED_EDGES
    # The bottleneck is drawn last, on top.
    ordered = sorted(edges, key=lambda edge: _pair(edge) == worst)
    return Picture(dots, [_line(edge, dots, heaviest, worst, peaks, named) for edge in ordered], True, words)


def share_of_peak(edge: Mapping[str, Any], peaks: Peaks) -> float | None:
    """The share of the path's peak that this pair has, 0..1; None when no peak is known."""
    ends = (edge["source"], edge["target"])
    peak = peaks.get(ends) or peaks.get((ends[1], ends[0])) or max(peaks.values(), default=0.0)
    return min(1.0, edge["bandwidth"] / peak) if peak and edge.get("bandwidth") is not None else None


def finding(candidate: Candidate, peaks: Peaks) -> str:
    """One sentence over the picture: which pair is the bottleneck, and what the others have."""
    worst = candidate.get("bottleneck")
    edges = list(candidate.get("edges") or [])
    if not worst:
        return "No pair of ranks talks, so no link can slow this job." if not edges else "Every pair has what it needs."
    share = share_of_peak(worst, peaks)
    of_peak = f" of {worst['bandwidth'] / share / 1e6:.0f}" if share else ""
    sentence = f"{worst['source']}–{worst['target']} is the bottleneck: {worst['bandwidth'] / 1e6:.0f}{of_peak} Mbit/s"
    others = [edge["bandwidth"] for edge in edges if _pair(edge) != _pair(worst)]
    return sentence + (
        f"; every other pair that talks has {min(others) / 1e6:.0f} or more."
        if others
        else ", the only pair that talks."
    )


def _pair(edge: Mapping[str, Any] | None) -> tuple[str, str] | None:
    return (edge["source"], edge["target"]) if edge else None


def _dot(rank: int, name: str, count: int) -> Dot:
    across, down = WIDTH / 2, HEIGHT / 2
    # Two nodes lie side by side; four make a rectangle, as people draw it.
    turn = math.pi if count == 2 else math.pi / count + math.pi if count % 2 == 0 else -math.pi / 2
    angle = turn + 2 * math.pi * rank / count
    reach_x, reach_y = (0.0, 0.0) if count == 1 else (across - 110, down - 48)
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = across + reach_x * cos, down + reach_y * sin
    sideways = abs(cos) > 0.45 and count > 4
    anchor = ("start" if cos > 0 else "end") if sideways else "middle"
    label_x = x + (20 * (1 if cos > 0 else -1) if sideways else 0)
    label_y = y + 4 if sideways else y + (32 if sin > 0 else -22)
    short = name if len(name) <= 13 else f"{name[:6]}…{name[-6:]}"
    return Dot(round(x, 1), round(y, 1), rank, name, short, round(label_x, 1), round(label_y, 1), anchor)


def _line(edge: Mapping[str, Any], dots: Sequence[Dot], heaviest: float, worst: Any, peaks: Peaks, named: bool) -> Line:
    a, b = (dots[rank] for rank in edge["ranks"])
    is_worst = _pair(edge) == worst
    rate = edge.get("bandwidth")
    text = "unknown" if rate is None else f"{rate / 1e6:.0f} Mbit/s"
    part = 0.5 if named else 0.38
    title = f"ranks {a.rank} and {b.rank}, {edge['source']}–{edge['target']}: {text}"
    return Line(
        x1=a.x, y1=a.y, x2=b.x, y2=b.y,
        width=round(2 + 7 * math.sqrt((edge.get("weight") or 1) / heaviest), 1),
        share=share_of_peak(edge, peaks), bottleneck=is_worst, title=title,
        label=text if named or is_worst else "",
        label_x=round(a.x + (b.x - a.x) * part, 1), label_y=round(a.y + (b.y - a.y) * part - 8, 1),
    )  # fmt: skip
