"""Why a move was weighed: the ratio of actual to promised seconds of each report, its average, and the limits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gridportal.web.templatetags.units import spaced
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.selectors.contract_stories import ContractStory, JudgedReport

_MOST_POINTS = 300
#: Each phase counts for its promised seconds, as where a contract is judged.
AVERAGE = "average of all phases so far"


def reports_until(story: ContractStory, moment: datetime) -> list[JudgedReport]:
    """The reports that were known then and held against the promise."""
    return [row for row in story.reports if row.at <= moment.timestamp() and row.average is not None]


def finding(story: ContractStory, rows: Sequence[JudgedReport], average: float | None) -> str:
    """Since when it is slow, and by how much."""
    if not rows:
        return "No report of a promised phase was known then."
    slow = _slow_since(rows, story.given.upper)
    mean = f"; the average over all phases was {average:.2f}" if average is not None else ""
    if not slow:
        last = rows[-1]
        took = f"{last.seconds / last.promised:.2f} times as long as promised"
        return f"The last report of {phase_name(story)} took {took}{mean}."
    ratios = [row.seconds / row.promised for row in slow]
    low, high = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    times = low if low == high else f"{low} to {high}"
    took = f"took {times} times as long as promised{mean}."
    if len(slow) == 1:
        return f"Report {slow[0].place} of {phase_name(story)} {took}"
    return f"Reports {slow[0].place} to {slow[-1].place} of {phase_name(story)} each {took}"


def phase_name(story: ContractStory) -> str:
    """The longest phase, as all pages write it."""
    return spaced(story.main_phase)


def figure(story: ContractStory, rows: Sequence[JudgedReport], threshold_at: datetime) -> dict[str, Any] | None:
    """Ratios of the reports until the weighing; None without any. Calls to the rescheduler are marked."""
    if not rows:
        return None
    shown = _thinned(rows)
    places = [row.place for row in shown]
    limits = [_limits_at(story, row.at) for row in shown]
    calls = _calls(story, rows, threshold_at)
    return {
        "data": [
            _line("upper limit", places, [each.upper for each in limits], "--risk", "dash"),
            _line("lower limit", places, [each.lower for each in limits], "--wait", "dot"),
            _line(AVERAGE, places, [row.average or 0.0 for row in shown], "--ink", "solid", shape="linear"),
            _ratios(phase_name(story), shown),
            *([_marks(calls)] if calls else []),
        ],
        "layout": {
            "showlegend": False,  # it stands below as text, which finds its lines itself
            "xaxis": {"title": {"text": phase_name(story)}, "showgrid": False},
            "yaxis": {"title": {"text": "actual / promised"}, "rangemode": "tozero"},
            "margin": {"l": 52, "r": 8, "t": 16, "b": 40},
        },
    }


def legend(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> list[tuple[str, str, str]]:
    """What each line and mark is: its colour, how it is drawn (dashed, dotted, solid, mark), and in words."""
    marks = [("--risk", "mark", "call to the rescheduler")] if _calls(story, rows, until) else []
    return [
        ("--risk", "dashed", "upper limit"),
        ("--wait", "dotted", "lower limit"),
        ("--ink", "solid", AVERAGE),
        ("--accent", "solid", f"each {phase_name(story)}"),
        *marks,
    ]


def _slow_since(rows: Sequence[JudgedReport], upper: float) -> list[JudgedReport]:
    """The latest reports in a row above the limit that was given."""
    count = 0
    for row in reversed(rows):
        if row.seconds / row.promised <= upper:
            break
        count += 1
    return list(rows[len(rows) - count :]) if count else []


def _calls(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> list[tuple[int, float]]:
    """Where the contract called the rescheduler: the place of the newest report then, and its ratio."""
    ends = [row.at for row in rows]
    found = []
    for call in story.calls:
        at = bisect_right(ends, call.at.timestamp())
        if at and call.at <= until:
            row = rows[at - 1]
            found.append((row.place, row.seconds / row.promised))
    return found


def _limits_at(story: ContractStory, moment: float) -> Limits:
    before = bisect_right([each.at for each in story.adjustments], moment)
    return story.adjustments[before - 1].limits if before else story.given


def _line(name: str, at: list[int], values: list[float], token: str, dash: str, shape: str = "hv") -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines" if len(at) > 1 else "markers",  # one point makes no line
        "marker": {"color": token, "symbol": "line-ew-open", "size": 14},
        "name": name,
        "x": at,
        "y": [round(each, 4) for each in values],
        "line": {"color": token, "dash": dash, "shape": shape, "width": 1.5},
        "hovertemplate": f"%{{x}}: {name} %{{y:.2f}}<extra></extra>",
    }


def _ratios(phase: str, rows: Sequence[JudgedReport]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(rows) <= 60 else "lines",
        "name": f"each {phase}",
        "x": [row.place for row in rows],
        "y": [round(row.seconds / row.promised, 4) for row in rows],
        "line": {"color": "--accent", "width": 1.5},
        "marker": {"color": "--accent", "size": 5},
        "hovertemplate": "%{x}: %{y:.2f} times<extra></extra>",
    }


def _marks(calls: Sequence[tuple[int, float]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "call to the rescheduler",
        "x": [place for place, _ in calls],
        "y": [round(ratio, 4) for _, ratio in calls],
        "marker": {"color": "--risk", "size": 12, "symbol": "diamond-open", "line": {"color": "--risk", "width": 2}},
        "hovertemplate": "%{x}: the contract called the rescheduler<extra></extra>",
    }


def _thinned(rows: Sequence[JudgedReport]) -> Sequence[JudgedReport]:
    """At most _MOST_POINTS: of each stretch the report with the highest ratio, so that no peak is lost."""
    if len(rows) <= _MOST_POINTS:
        return rows
    stretch = -(-len(rows) // _MOST_POINTS)
    parts = [rows[at : at + stretch] for at in range(0, len(rows), stretch)]
    return [max(part, key=lambda row: row.seconds / row.promised) for part in parts]
