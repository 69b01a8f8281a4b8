"""A profile as pictures: the pairs that matter as a graph, all ordered pairs as a heat map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gridportal.web.templatetags.units import size
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.profiles.charts.picture import Picture, picture
from scheduling.profiles.core.profile import Profile

# One hue, for much is not good or bad; three steps with the ink that is readable on each.
STEPS = (("--line", "--ink"), ("--a3", "--t3"), ("--a4", "--t4"))
SCALE = [[edge, STEPS[step][0]] for step in range(3) for edge in (step / 3, (step + 1) / 3)]
MOST_RANKS = 128
MOST_WRITTEN = 16


def graph(profile: Profile) -> Picture:
    """Ranks on a circle; a line for each dominant pair, wider for more bytes (Pattern 2003, figure 2)."""
    names = [f"rank {rank}" for rank in range(profile.ranks)]
    edges = tuple(RankPair((a, b), names[a], names[b], None, weight) for a, b, weight in profile.dominant)
    drawn = picture(CandidateGroup(tuple(names), edges=edges), {})
    if not drawn.whole:
        return drawn
    titles = {(a, b): f"ranks {a} and {b}: {size(weight)}" for a, b, weight in profile.dominant}
    lines = [replace(line, title=titles[a, b]) for line, (a, b, _) in zip(drawn.lines, profile.dominant, strict=False)]
    return replace(drawn, lines=lines)


def heat_map(profile: Profile) -> dict[str, Any] | None:
    """Bytes by ordered pair, coloured by their share of the heaviest; None for too many ranks."""
    heaviest = float(profile.sizes.max(initial=0.0))
    if profile.ranks > MOST_RANKS or not heaviest:
        return None
    names = [str(rank) for rank in range(profile.ranks)]
    share = [[float(value) / heaviest if value else None for value in row] for row in profile.sizes]
    texts = [[size(float(value)) if value else "" for value in row] for row in profile.sizes]
    axis = {"type": "category", "showgrid": False, "ticks": ""}
    return {
        "data": [
            {
                "type": "heatmap",
                "x": names,
                "y": names,
                "z": share,
                "text": texts,
                "zmin": 0,
                "zmax": 1,
                "colorscale": SCALE,
                "showscale": False,
                "xgap": 1,
                "ygap": 1,
                "hoverongaps": False,
                "hovertemplate": "%{y} to %{x}: %{text}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {**axis, "side": "top", "title": {"text": "to rank"}},
            "yaxis": {**axis, "autorange": "reversed", "title": {"text": "from rank"}},
            "margin": {"l": 56, "r": 8, "t": 56, "b": 8},
            "annotations": _written(names, share, texts) if profile.ranks <= MOST_WRITTEN else [],
        },
    }


def _written(names: list[str], share: list[list[float | None]], texts: list[list[str]]) -> list[dict[str, Any]]:
    """The bytes in each cell, in the ink that is readable on its step."""
    return [
        {
            "x": to,
            "y": source,
            "text": texts[i][j],
            "showarrow": False,
            "font": {"size": 12, "color": STEPS[min(2, int(3 * part))][1]},
        }
        for i, source in enumerate(names)
        for j, to in enumerate(names)
        if (part := share[i][j]) is not None
    ]
