"""The seconds of a program's phases as a Plotly figure; colours are tokens of the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.web.axis_ticks import whole_ticks
from gridportal.web.templatetags.units import duration, spaced

MOST_BARS = 300
_WORTH_A_WORD = 0.05  # of the program's own time
Report = Mapping[str, Any]  # phase, number (from 0), iteration, seconds, communicate
Summary = Mapping[str, Any]  # phase, count, seconds, mean, max, compute, communicate, share


def main_phase(summary: Sequence[Summary]) -> Summary | None:
    """The repeated phase that takes most of the time, else the longest."""
    repeated = [row for row in summary if row["count"] > 1] or list(summary)
    return max(repeated, key=lambda row: row["seconds"], default=None)


def finding(summary: Sequence[Summary], seconds: float | None = None) -> str:
    """One sentence: where the time goes. `seconds`: what the program took by its own report, None when not known."""
    main = main_phase(summary)
    if main is None:
        return "No phase has been reported yet."
    text = f"{spaced(main['phase'])} takes {main['share'] * 100:.0f} % of the time of all phases"
    if main.get("communicate") and main["seconds"]:
        part = min(1.0, main["communicate"] / main["seconds"])
        text += f", {part * 100:.0f} % of it communicating"
    return f"{text}{_outside(summary, seconds)}."


def _outside(summary: Sequence[Summary], seconds: float | None) -> str:
    """What no phase accounts for, where it is worth a word."""
    rest = (seconds or 0.0) - sum(row["seconds"] for row in summary)
    if seconds is None or rest < _WORTH_A_WORD * seconds:
        return ""
    return f"; {duration(rest)} of the program’s {duration(seconds)} are in no phase"


def overlap(summary: Sequence[Summary], lasted: float | None) -> str:
    """What the times of phases are, in words, and why they may add up to more than the run `lasted`, in seconds, None
    while that is not known."""
    if not summary:
        return ""
    words = "Times are of the slowest rank in each step."
    whole = sum(row["seconds"] for row in summary)
    if lasted is None or whole <= lasted:
        return words
    sums = f"So all phases add up to {duration(whole)}, though the run lasted {duration(lasted)}"
    return f"{words} {sums}: while one rank is in a phase others are in the next one."


def figure(reports: Sequence[Report], name: str) -> dict[str, Any]:
    """Stacked bars per repetition of the phase `name`: compute below, communication above, where it is known."""
    rows = [report for report in reports if report["phase"] == name]
    rows = _thinned(rows)
    at = [row["iteration"] if row["iteration"] is not None else row["number"] + 1 for row in rows]
    split = bool(rows) and all(row["communicate"] is not None for row in rows)
    if split:
        talk = [min(row["communicate"], row["seconds"]) for row in rows]
        work = [row["seconds"] - part for row, part in zip(rows, talk, strict=True)]
        data = [_bars("compute", at, work, "--r3"), _bars("communicate", at, talk, "--a1")]
    else:
        data = [_bars("seconds", at, [row["seconds"] for row in rows], "--r3")]
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
    return {
        "data": data,
        "layout": {
            "barmode": "stack",
            "bargap": 0.18,
            "showlegend": split,
            "legend": legend,
            "xaxis": {"title": {"text": "iteration"}, "showgrid": False, **whole_ticks(at)},
            "yaxis": {"title": {"text": "s"}, "rangemode": "tozero"},
            "margin": {"l": 52, "r": 8, "t": 24 if split else 8, "b": 40},
        },
    }


def _bars(name: str, at: list[int], seconds: list[float], token: str) -> dict[str, Any]:
    rounded = [round(value, 5) for value in seconds]
    return {
        "type": "bar",
        "name": name,
        "x": at,
        "y": rounded,
        "marker": {"color": token},
        "hovertemplate": f"%{{x}}: %{{y:.3f}} s {name}<extra></extra>",
    }


def _thinned(rows: list[Report]) -> list[Report]:
    """At most MOST_BARS rows: the longest of each stretch, so that no peak is lost."""
    if len(rows) <= MOST_BARS:
        return rows
    stretch = -(-len(rows) // MOST_BARS)
    return [max(rows[i : i + stretch], key=lambda row: row["seconds"]) for i in range(0, len(rows), stretch)]
