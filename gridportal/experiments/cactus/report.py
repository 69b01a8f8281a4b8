"""Errors, shares and sets as tables, figure and sentence, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.charts import MARK_COLOURS, SYMBOLS, Figure, layout
from gridportal.experiments.tables import NOTHING, Table, number, percent

Result = Mapping[str, Any]
_PARTS = {"computing": "computing alone", "communication": "with communication"}


def tables(result: Result) -> list[Table]:
    """The errors of both parts, the divisions, and all sets of machines."""
    return [_errors(result), *_cases(result), _shares(result), *_sets(result)]


def _cases(result: Result) -> list[Table]:
    """The error of each run, so that one sees which are off."""
    return [
        Table(f"Predicted above measured, {label}", ["run", "%"], [[case, percent(off)] for case, off in cases.items()])
        for name, label in _PARTS.items()
        if (cases := result[name]["cases"])
    ]


def _errors(result: Result) -> Table:
    rows = []
    for name, label in _PARTS.items():
        ours, goals, paper = (result[name], result["goals"][name], result["paper"][name])
        if ours["n"]:
            figures = ("mean_error", "worst_error", "lockstep_mean_error", "lockstep_worst_error")
            rows.append([label, *(percent(ours[figure]) for figure in figures), *_both(goals), *_both(paper)])
    heads = ["", "mean error, %", "worst, %", "subtasks in lockstep: mean, %", "worst, %"]
    heads += ["wanted: mean, %", "worst, %", "the paper: mean, %", "worst, %"]
    return Table("Predicted and measured times", heads, rows)


def _both(of: Mapping[str, Any]) -> list[str]:
    return [percent(of["mean_error"]), percent(of["worst_error"])]


def _shares(result: Result) -> Table:
    shares = result["shares"]
    best = min(shares["seconds"].values(), default=None)
    rows = [
        [
            ":".join(map(str, shares["divisions"][offset])) + (" (mapper)" if offset == "0" else ""),
            number(seconds),
            percent(seconds / best - 1) if best else NOTHING,
        ]
        for offset, seconds in shares["seconds"].items()
    ]
    return Table("Planes on dralion (450 MHz, idle) and cirque (500 MHz, load 2)", ["", "s", "above best, %"], rows)


def _sets(result: Result) -> list[Table]:
    found = []
    for name, of in result["selection"].items():
        best = min(of["sets"].values(), default=None)
        rows = [
            [
                each + (" (selected)" if each.split() == of["selected"] else ""),
                number(seconds),
                percent(seconds / best - 1),
            ]
            for each, seconds in sorted(of["sets"].items(), key=lambda item: item[1])
            if best
        ]
        found.append(Table(f"All sets of the candidates, {name}", ["machines", "s", "above best, %"], rows))
    return found


def _set(names: str, selected: list[str]) -> str:
    return f"{names} (selected)" if names.split() == selected else names


def figure(result: Result) -> Figure:
    """A mark for each run: predicted across, measured upwards."""
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": _PARTS[name],
            "x": [round(predicted, 2) for predicted, _ in points],
            "y": [round(seconds, 2) for _, seconds in points],
            "marker": {"color": MARK_COLOURS[place], "symbol": SYMBOLS[place], "size": 9},
            "hovertemplate": "predicted %{x:.1f} s, measured %{y:.1f} s<extra></extra>",
        }
        for place, (name, points) in enumerate(result["points"].items())
    ]
    ends = [value for points in result["points"].values() for point in points for value in point]
    if ends:
        most = max(ends)
        line = {"color": MARK_COLOURS[2], "dash": "dot"}
        data.append({"type": "scatter", "mode": "lines", "name": "equal", "x": [0, most], "y": [0, most], "line": line})
    return {"data": data, "layout": layout("measured, s", "predicted, s")}


def finding(result: Result) -> str:
    """Each part against what was to be reached, as far as it is known."""
    parts = [_of_errors(result, name) for name in _PARTS] + [_of_shares(result), *_of_selection(result)]
    return " ".join(filter(None, parts)) or "Nothing was measured yet."


def _of_errors(result: Result, name: str) -> str:
    ours, goals, paper = (each[name] for each in (result, result["goals"], result["paper"]))
    if not ours["n"]:
        return ""
    return (
        f"The time {_PARTS[name]} is predicted to {percent(ours['mean_error'])} % on average (wanted: "
        f"{percent(goals['mean_error'])} %, paper: {percent(paper['mean_error'])} %), "
        f"{percent(ours['lockstep_mean_error'])} % where subtasks wait for each other; loads were forecast to "
        f"{number(ours['forecast_error'])} processes."
    )


def _of_shares(result: Result) -> str:
    ours = result["shares"]
    if ours["above_best"] is None:
        return ""
    return (
        f"The mapper's {':'.join(map(str, ours['division']))} takes {percent(ours['above_best'])} % longer than the "
        f"best division (wanted: {percent(result['goals']['shares']['above_best'])} %, paper: "
        f"{percent(result['paper']['shares']['above_best'])} %)."
    )


def _of_selection(result: Result) -> list[str]:
    return [
        f"Of the candidates {name}, {', '.join(of['selected'])} were selected, "
        + ("the fastest set." if of["is_fastest"] else f"{percent(of['above_best'])} % above the fastest set.")
        for name, of in result["selection"].items()
        if of["above_best"] is not None
    ]
