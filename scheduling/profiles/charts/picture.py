"""The chosen nodes on a circle and the pairs of ranks that talk: width is weight, colour the share available."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base import rank_places
from gridportal.web.templatetags.units import mbit_text
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.profiles.charts import labels

WIDTH, HEIGHT = 520, 280
MOST_NODES = 32
LABELLED_EDGES = 4
MOST_OF_ALL_PAIRS = 12
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
class InnerLine:
    """A pair of ranks of one node that talks, over no link of the network."""

    x1: float
    y1: float
    x2: float
    y2: float
    title: str


@dataclass(frozen=True)
class Picture:
    """What the template draws; `whole` is False when there are too many nodes to draw them all,
    `left_out` the number of pairs that are not drawn; `inner`: pairs that talk inside a node."""

    dots: Sequence[Dot]
    lines: Sequence[Line]
    whole: bool
    summary: str
    left_out: int = 0
    inner: Sequence[InnerLine] = ()
    width: int = WIDTH
    height: int = HEIGHT


def picture(
    candidate: CandidateGroup, peaks: Peaks, *, talks: bool = True, inner: Sequence[tuple[int, int]] = ()
) -> Picture:
    """Draw one candidate group. `peaks` gives the peak of an ordered pair in bit/s; the largest serves for the rest.
    `talks`: its edges are the pairs of a pattern, not simply all pairs. Of many equal lines only the slowest are drawn.
    `inner`: pairs of ranks of one node that talk.
    """
    nodes, edges = candidate.nodes, candidate.edges
    order = f"{count(len(nodes), 'node')} in rank order"
    if len(set(nodes)) < len(nodes):
        order = f"{rank_places.size(len(nodes), len(set(nodes)))} in rank order"
    summary = f"{order}: {', '.join(nodes[:16])}; {pairs(len(edges), talks=talks)}"
    if len(nodes) > MOST_NODES:
        return Picture([], [], False, summary)
    dots = [_dot(rank, name, len(nodes)) for rank, name in enumerate(nodes)]
    worst = _ends(candidate.bottleneck.pair) if candidate.bottleneck else None
    heaviest = max((edge.weight or 1 for edge in edges), default=1)
    shown: Sequence[RankPair] = edges
    if not talks and len(edges) > MOST_OF_ALL_PAIRS:
        shown = sorted(edges, key=lambda edge: edge.bandwidth or 0.0)[:MOST_OF_ALL_PAIRS]
    # The bottleneck is drawn last, on top.
    ordered = sorted(shown, key=lambda edge: _ends(edge) == worst)
    widest = 7.0 if len(shown) <= 12 else 3.0
    widths = [round(2 + widest * math.sqrt((edge.weight or 1) / heaviest), 1) for edge in ordered]
    labelled = zip(ordered, widths, _labels(ordered, dots, worst), strict=True)
    lines = [_line(edge, dots, width, worst, peaks, at) for edge, width, at in labelled]
    inside = [_inner_line(dots[a], dots[b]) for a, b in inner]
    return Picture(dots, lines, True, summary, left_out=len(edges) - len(shown), inner=inside)


def _inner_line(a: Dot, b: Dot) -> InnerLine:
    return InnerLine(a.x, a.y, b.x, b.y, f"ranks {a.rank} and {b.rank} talk inside {a.name}, over no link")


def inner_pairs(nodes: Sequence[str], pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs of ranks that are on one node, each once.

    >>> inner_pairs(["n1", "n1", "n2"], [(0, 1), (1, 0), (1, 2)])
    [(0, 1)]
    """
    return sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b and nodes[a] == nodes[b]})


def count(number: int, word: str) -> str:
    """`1 node`, `4 nodes`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def pairs(number: int, *, talks: bool) -> str:
    """How many pairs there are, and that they talk where a pattern says so."""
    return count(number, "pair") + (" talks" if number == 1 else " talk") * talks


def pairs_that_talk(number: int, *, talks: bool) -> str:
    """The same as who gets something: `the only pair`, `each of the 6 pairs that talk`."""
    if number == 1:
        return "the only pair" + " that talks" * talks
    return f"each of the {number} pairs" + " that talk" * talks


def share_of_peak(edge: RankPair, peaks: Peaks) -> float | None:
    """The share of its path's peak that this pair has, 0..1; None when no peak is known."""
    if edge.bandwidth is None:
        return None
    peak = path_peak(edge, peaks)
    return min(1.0, edge.bandwidth / peak) if peak else None


def path_peak(edge: RankPair, peaks: Peaks) -> float:
    """Bit/s: the peak of the link that binds the pair, as the page of the topology has it. Where that link is not
    known: of the link between its nodes, else what the links of its nodes carry at most; 0 without any."""
    source, target = edge.link or _ends(edge)
    direct = peaks.get((source, target)) or peaks.get((target, source))
    return direct or min(_most_of(name, peaks) for name in _ends(edge))


def _most_of(name: str, peaks: Peaks) -> float:
    return max((peak for ends, peak in peaks.items() if name in ends), default=0.0)


def finding(candidate: CandidateGroup, peaks: Peaks, *, talks: bool = True) -> str:
    """One sentence over the picture: which pair is the bottleneck, and what the others have; figures as in the tables.
    `talks`: its pairs are those of a pattern, not simply all pairs."""
    if candidate.bottleneck is None:
        if len(candidate.nodes) == 1:
            return "A single rank: no link can slow this job."
        if len(set(candidate.nodes)) == 1:
            who = "Both" if len(candidate.nodes) == 2 else f"All {len(candidate.nodes)}"
            return f"{who} ranks are on {candidate.nodes[0]}: no link can slow this job."
        silent = "No pair of ranks talks, so no link can slow this job."
        return "Every pair has what it needs." if candidate.edges else silent
    worst = candidate.bottleneck.pair
    peak = path_peak(worst, peaks)
    of_peak = f" of {mbit_text(peak)}" if peak else ""
    rate = f"{mbit_text(worst.bandwidth or 0.0)}{of_peak} Mbit/s"
    sentence = f"{worst.source}–{worst.target} is the bottleneck: {rate}"
    others = [edge.bandwidth or 0.0 for edge in candidate.edges if _ends(edge) != _ends(worst)]
    that_talks = " that talks" * talks
    if not others:
        return f"{sentence}, the only pair{that_talks}."
    if equal := sum(mbit_text(rate) == mbit_text(worst.bandwidth or 0.0) for rate in others):
        alike = f"1 other pair{that_talks}" if equal == 1 else f"{equal} other pairs{' that talk' * talks}"
        return f"{worst.source}–{worst.target} and {alike} have the least: {rate} each."
    return f"{sentence}; every other pair{that_talks} has {mbit_text(min(others))} or more."


def _ends(edge: RankPair) -> tuple[str, str]:
    return edge.source, edge.target


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


def _line(edge: RankPair, dots: Sequence[Dot], width: float, worst: Any, peaks: Peaks, at: Any) -> Line:
    """`at`: where the figure of the line goes, None for a line without one."""
    a, b = (dots[rank] for rank in edge.ranks)
    rate = edge.bandwidth
    text = "unknown" if rate is None else f"{mbit_text(rate)} Mbit/s"
    label_x, label_y = at or (0.0, 0.0)
    title = f"ranks {a.rank} and {b.rank}, {edge.source}–{edge.target}: {text}"
    return Line(
        x1=a.x,
        y1=a.y,
        x2=b.x,
        y2=b.y,
        width=width,
        share=share_of_peak(edge, peaks),
        bottleneck=_ends(edge) == worst,
        title=title,
        label=text if at else "",
        label_x=label_x,
        label_y=label_y,
    )


def _labels(ordered: Sequence[RankPair], dots: Sequence[Dot], worst: Any) -> list[labels.Point | None]:
    """Where the figure of each line goes; among many lines only the bottleneck has one. It chooses its place first."""
    named = len(ordered) <= LABELLED_EDGES
    labelled = [i for i, edge in reversed(list(enumerate(ordered))) if named or _ends(edge) == worst]
    spots = [(dot.x, dot.y) for dot in dots]
    ends = [(spots[a], spots[b]) for a, b in (ordered[i].ranks for i in labelled)]
    at = dict(zip(labelled, labels.places(ends, spots, 0.5 if named else 0.38), strict=True))
    return [at.get(i) for i in range(len(ordered))]
