"""A contract as a Plotly figure and in sentences: promised, actual, and the limits as they moved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from gridportal.web.axis_ticks import whole_ticks
from gridportal.web.templatetags.units import duration, spaced
from scheduling.contracts.core.first_reports import FIRST_REPORTS
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.outlook import Standing
from scheduling.contracts.selectors.contract_stories import ContractStory, JudgedReport, PhaseRow
from scheduling.performance.core.fitted import FITTED, PAST_RUNS

MOST_POINTS = 300
#: What takes hardly longer than that gets what it was promised.
_AS_PROMISED = 1.1
#: Who promises, in words.
SOURCES = {
    PAST_RUNS: "the median of runs like it",
    FITTED: "a line through runs of other sizes",
    FIRST_REPORTS: "its first reports, on idle nodes",
}


def finding(story: ContractStory) -> str:
    """One sentence: how the contract stands, with the figures that say so."""
    if story.promised is None and story.closed:
        return (
            "Nothing was promised: no model knew this program, and no run like it that reported phases had ended well."
        )
    if story.promised is None:
        return (
            "Nothing is promised yet: no model predicts this run before it reports, and no run like it that reported "
            "phases has ended well."
        )
    yet = "" if story.closed else " yet"
    if story.average is None and story.reports:
        return f"The promise was made of its first reports; no later report has been held against it{yet}."
    if story.average is None:
        return f"No phase that was promised has been reported{yet}."
    if story.closed:
        return f"The run is over. Its phases took {story.average:.2f} times as long as promised."
    main = max(story.rows, key=lambda row: row.seconds or 0.0)
    gets = _promised_and_taken(main)
    is_longer = main.ratio is not None and main.ratio > _AS_PROMISED
    match story.standing:
        case Standing.SILENT:
            return f"It is silent: nothing was reported for {duration(story.quiet)}, longer than any phase should take."
        case Standing.VIOLATED:
            return f"{_slower_than(main)}: {gets}."
        case Standing.SLOW:
            on_average = "it is within its limits" if is_longer else "it gets what it was promised"
            return f"Its last report took longer than promised; on average {on_average}: {gets}."
        case Standing.FASTER:
            return f"It is faster than promised: {gets}. The limits now follow its measured speed."
        case _:
            kept = "It is slower than promised, within its limits" if is_longer else "It gets what it was promised"
            return f"{kept}: {gets}."


def _slower_than(main: PhaseRow) -> str:
    """Limits follow a run that is faster than promised, so that it may be slowed down and still be faster."""
    if main.ratio is not None and main.ratio <= 1:
        return "It is slower than it was before, not than promised"
    return "It gets less than it was promised"


def _promised_and_taken(row: PhaseRow) -> str:
    phase = spaced(row.phase)
    each = f"report of {phase}" if phase.endswith("s") else phase
    return f"{duration(row.promised)} were promised for each {each}, and it takes {duration(row.mean)}"


def source(model: str) -> str:
    """Who promised it.

    >>> source("past-runs"), source("qr")
    ('the median of runs like it', 'the model qr')
    """
    return SOURCES.get(model, f"the model {model}")


def figure(story: ContractStory) -> dict[str, Any]:
    """Seconds of each report of the longest phase: actual, promised, and both limits as they moved."""
    rows = _thinned(story.reports)
    at = [row.place for row in rows]
    promised = [row.promised for row in rows]
    limits = [_limits_at(story, row) for row in rows]
    upper = [limit.upper * each for limit, each in zip(limits, promised, strict=True)]
    lower = [limit.lower * each for limit, each in zip(limits, promised, strict=True)]
    return {
        "data": [
            _line("upper limit", at, upper, "--risk", "dot"),
            _line("promised", at, promised, "--rule", "dash"),
            _line("lower limit", at, lower, "--a4", "dot"),
            _actual(at, [row.seconds for row in rows]),
        ],
        "layout": {
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
            "xaxis": {"title": {"text": "report"}, "showgrid": False, **whole_ticks(at)},
            "yaxis": {"title": {"text": "s"}, "rangemode": "tozero"},
            "margin": {"l": 52, "r": 8, "t": 24, "b": 40},
        },
    }


def _line(name: str, at: list[int], seconds: list[float], token: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": at,
        "y": [round(each, 6) for each in seconds],
        "line": {"color": token, "dash": dash, "shape": "hv", "width": 1.5},
        "hovertemplate": f"%{{x}}: {name} %{{y:.3g}} s<extra></extra>",
    }


def _actual(at: list[int], seconds: list[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(at) <= 60 else "lines",
        "name": "actual",
        "x": at,
        "y": [round(each, 6) for each in seconds],
        "line": {"color": "--r4", "width": 2},
        "marker": {"color": "--r4", "size": 5},
        "hovertemplate": "%{x}: %{y:.3g} s<extra></extra>",
    }


def _limits_at(story: ContractStory, row: JudgedReport) -> Limits:
    """The limits that held when it was reported."""
    before = bisect_right([each.at for each in story.adjustments], row.at)
    return story.adjustments[before - 1].limits if before else story.given


def _thinned(rows: Sequence[JudgedReport]) -> Sequence[JudgedReport]:
    """At most MOST_POINTS: the longest of each stretch, so that no peak is lost."""
    if len(rows) <= MOST_POINTS:
        return rows
    stretch = -(-len(rows) // MOST_POINTS)
    return [max(rows[at : at + stretch], key=lambda row: row.seconds) for at in range(0, len(rows), stretch)]
