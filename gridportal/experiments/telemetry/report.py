"""Four questions to telemetry and the shares of good answers, as table, figure and sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridportal.experiments.charts import MARK_COLOURS, Figure, layout
from gridportal.experiments.tables import Table, number, percent
from gridportal.experiments.telemetry.measurement import errors_of
from gridportal.experiments.trial_columns import COMPARED, TOOK, WORST_ERROR

Result = Mapping[str, Any]
_DASHES = ("solid", "dash", "dot", "dashdot")
COLUMNS = (
    replace(COMPARED, value=lambda trial: len(errors_of(trial)) or None),
    replace(WORST_ERROR, value=lambda trial: max(errors_of(trial), default=None)),
    TOOK,
)


def tables(result: Result) -> list[Table]:
    """A row for each question."""
    heads = ["question", "answers", "error at most", "share so good, %", "wanted, %", "median error", "worst error"]
    rows = [[kind, *_answer(kind, result[kind], goal)] for kind, goal in result["goals"].items()]
    return [Table("Shares of good answers", heads, rows)]


def figure(result: Result) -> Figure:
    """For each question its errors in their order, and its goal."""
    data = []
    for place, (kind, goal) in enumerate(result["goals"].items()):
        errors = sorted(result["errors"][kind])
        data.append(_shares(kind, errors, place))
        if errors:
            data.append(_goal(kind, goal, place))
    return {"data": data, "layout": layout("answers, %", "error")}


def finding(result: Result) -> str:
    """Which questions are answered as well as was wanted."""
    measured = {kind: result[kind] for kind in result["goals"] if result[kind]["n"]}
    if not measured:
        return "No question has been asked yet."
    missed = [kind for kind in measured if not result["reached"][kind]]
    if missed:
        return (
            f"{_listed(missed)} {'misses its goal' if len(missed) == 1 else 'miss their goals'}; the rest are reached."
        )
    if len(measured) < len(result["goals"]):
        return (
            f"So far as well as was wanted: {_listed(list(measured)).lower()}; the other questions are not asked yet."
        )
    return f"All {len(measured)} questions are answered as well as was wanted."


def _answer(kind: str, answer: Mapping[str, Any], goal: Mapping[str, float]) -> list[str]:
    shares = [percent(answer["share"]), percent(goal["share"])]
    errors = [number(answer[which], 3) for which in ("median_error", "worst_error")]
    return [str(answer["n"]), f"{_within(kind, goal):.2f}", *shares, *errors]


def _shares(kind: str, errors: Sequence[float], place: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": kind,
        "x": [round(error, 4) for error in errors],
        "y": [round(100 * (at + 1) / len(errors), 2) for at in range(len(errors))],
        "line": {"shape": "hv", "color": MARK_COLOURS[place], "dash": _DASHES[place]},
    }


def _goal(kind: str, goal: Mapping[str, float], place: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"goal of {kind}",
        "x": [_within(kind, goal)],
        "y": [100 * goal["share"]],
        "marker": {"color": MARK_COLOURS[place], "symbol": "diamond", "size": 11},
        "showlegend": False,
    }


def _within(kind: str, goal: Mapping[str, float]) -> float:
    """The largest error of a good answer; of selection the goal is the part of the best that must be reached."""
    return goal["within"] if kind != "selection" else 1 - goal["within"]


def _listed(names: Sequence[str]) -> str:
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return text.capitalize()
