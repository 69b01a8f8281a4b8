"""Why a move was weighed: the ratio of actual to promised seconds of each report, its average, and the limits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from gridportal.web.axis_ticks import whole_ticks
from gridportal.web.templatetags.units import duration, spaced
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.models import ContractCall
from scheduling.contracts.selectors.contract_stories import ContractStory, JudgedReport

#: A line or marks of a chart, or one of its axes, as Plotly takes them.
Trace = dict[str, Any]
_MOST_POINTS = 300
#: Where a ratio is so many times the upper limit, equal distances are equal factors: else all other lines are one.
_FAR_ABOVE = 3.0
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: The axis of a single report goes on by so much on both sides, and its lines by more than that.
_ROOM, _WHOLE_WIDTH = 0.6, 2
CALL, OVERDUE = "call to the rescheduler", "overdue report that called the rescheduler"
#: Each phase counts for its promised seconds, as where a contract is judged.
AVERAGE = "average of all phases so far"


def reports_until(story: ContractStory, moment: datetime) -> list[JudgedReport]:
    """The reports that were known then and held against the promise."""
    return [row for row in story.reports if row.at <= moment.timestamp() and row.average is not None]


class _Mark(NamedTuple):
    """A call on the chart: the report that called, or that was overdue, and its ratio so far."""

    place: int
    ratio: float


def finding(
    story: ContractStory, rows: Sequence[JudgedReport], average: float | None, until: datetime | None = None
) -> str:
    """Since when it is slow, and by how much. `until`: the moment of the weighing, for which a report may have been
    overdue."""
    silence = _last_silence(story, rows, until) if until else None
    if silence is not None:
        return _overdue_finding(silence, rows)
    if not rows:
        return "The run had reported nothing yet that could be compared with its contract."
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
    """Ratios of the reports until the weighing, with the calls to the rescheduler; None without any."""
    calls, overdue = _calls(story, rows, threshold_at), _silences(story, rows, threshold_at)
    marks = [*([_marks(CALL, calls)] if calls else []), *([_marks(OVERDUE, overdue, "square-open")] if overdue else [])]
    lines = _lines(story, rows) if rows else []
    if not lines and not marks:
        return None
    return {
        "data": [*lines, *marks],
        "layout": {
            "showlegend": False,  # it stands below as text, which finds its lines itself
            "xaxis": _report_axis(story, rows, marks),
            "yaxis": _ratio_axis(story, [*lines, *marks]),
            "margin": {"l": 52, "r": 8, "t": 16, "b": 40},
        },
    }


def _report_axis(story: ContractStory, rows: Sequence[JudgedReport], marks: Sequence[Trace]) -> Trace:
    """Reports are numbered: no halves. A single one has room on both sides for its lines."""
    places = [row.place for row in rows] + [place for trace in marks for place in trace["x"]]
    around = {"range": [min(places) - _ROOM, max(places) + _ROOM]} if len(rows) <= 1 else {}
    return {"title": {"text": f"report of {phase_name(story)}"}, "showgrid": False, **around, **whole_ticks(places)}


def _ratio_axis(story: ContractStory, data: Sequence[Trace]) -> dict[str, Any]:
    title = {"text": "actual / promised"}
    if max(ratio for trace in data for ratio in trace["y"]) <= _FAR_ABOVE * story.given.upper:
        return {"title": title, "rangemode": "tozero"}
    return {"title": title, "type": "log", "tickvals": list(_TICKS), "ticktext": [f"{tick:g}" for tick in _TICKS]}


def _lines(story: ContractStory, rows: Sequence[JudgedReport]) -> list[Trace]:
    """The limits, the average and the ratios; beside a single report the limits and the average go on on both sides."""
    shown = _thinned(rows)
    places: list[float] = [row.place for row in shown]
    at = [places[0] - _WHOLE_WIDTH, *places, places[0] + _WHOLE_WIDTH] if len(places) == 1 else places
    wide = [*shown] * 3 if len(places) == 1 else shown
    limits = [_limits_at(story, row.at) for row in wide]
    return [
        _line("upper limit", at, [each.upper for each in limits], "--risk", "dash"),
        _line("lower limit", at, [each.lower for each in limits], "--wait", "dot"),
        _line(AVERAGE, at, [row.average or 0.0 for row in wide], "--ink", "solid", shape="linear"),
        _ratios(phase_name(story), shown),
    ]


def legend(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> list[tuple[str, str, str]]:
    """What each line and mark is: its colour, how it is drawn (dashed, dotted, solid, mark, overdue), and in words."""
    marks = [("--risk", "mark", CALL)] if _calls(story, rows, until) else []
    marks += [("--risk", "overdue", OVERDUE)] if _silences(story, rows, until) else []
    if not rows:
        return marks
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


def _calls(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> list[_Mark]:
    """Where a report called the rescheduler: the place of the newest report then, and its ratio."""
    newest = [_newest(rows, call) for call in story.calls if call.at <= until and call.pk not in story.overdue]
    return [_Mark(row.place, row.seconds / row.promised) for row in newest if row is not None]


def _silences(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> list[_Mark]:
    """The reports that were overdue when they called the rescheduler: the place after the newest report then, and how
    many times the promised seconds had passed."""
    calls = [call for call in story.calls if call.at <= until and call.pk in story.overdue and call.promised > 0]
    return [_Mark(_place_after(rows, call), call.seconds / call.promised) for call in calls]


def _newest(rows: Sequence[JudgedReport], call: ContractCall) -> JudgedReport | None:
    count = bisect_right([row.at for row in rows], call.at.timestamp())
    return rows[count - 1] if count else None


def _place_after(rows: Sequence[JudgedReport], call: ContractCall) -> int:
    newest = _newest(rows, call)
    return newest.place + 1 if newest else 1


def _last_silence(story: ContractStory, rows: Sequence[JudgedReport], until: datetime) -> ContractCall | None:
    """The call that came last before the weighing, where it came from a report that was overdue and not there yet."""
    last = max((call for call in story.calls if call.at <= until), key=lambda call: call.at, default=None)
    if last is None or last.pk not in story.overdue or last.promised <= 0:
        return None
    return None if rows and rows[-1].at > last.at.timestamp() else last


def _overdue_finding(call: ContractCall, rows: Sequence[JudgedReport]) -> str:
    times = f"{call.seconds / call.promised:.1f}"
    return (
        f"Report {_place_after(rows, call)} of {spaced(call.phase)} was overdue: {duration(call.seconds)} had passed "
        f"without it, {times} times as long as promised; the average over all phases was {call.average:.2f} with it."
    )


def _limits_at(story: ContractStory, moment: float) -> Limits:
    before = bisect_right([each.at for each in story.adjustments], moment)
    return story.adjustments[before - 1].limits if before else story.given


def _line(name: str, at: list[float], values: list[float], token: str, dash: str, shape: str = "hv") -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": at,
        "y": [round(each, 4) for each in values],
        "line": {"color": token, "dash": dash, "shape": shape, "width": 1.5},
        "hovertemplate": f"%{{x}}: {name} %{{y:.2f}}<extra></extra>",
    }


def _ratios(phase: str, rows: Sequence[JudgedReport]) -> Trace:
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


def _marks(name: str, calls: Sequence[_Mark], symbol: str = "diamond-open") -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [place for place, _ in calls],
        "y": [round(ratio, 4) for _, ratio in calls],
        "marker": {"color": "--risk", "size": 12, "symbol": symbol, "line": {"color": "--risk", "width": 2}},
        "hovertemplate": f"%{{x}}: {name}, %{{y:.2f}} times<extra></extra>",
    }


def _thinned(rows: Sequence[JudgedReport]) -> Sequence[JudgedReport]:
    """At most _MOST_POINTS: of each stretch the report with the highest ratio, so that no peak is lost."""
    if len(rows) <= _MOST_POINTS:
        return rows
    stretch = -(-len(rows) // _MOST_POINTS)
    parts = [rows[at : at + stretch] for at in range(0, len(rows), stretch)]
    return [max(part, key=lambda row: row.seconds / row.promised) for part in parts]
