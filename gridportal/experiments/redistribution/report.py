"""Predicted and real times of a redistribution as tables, figure and sentence, the paper's words beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.charts import MARK_COLOURS, SYMBOLS, Figure, layout
from gridportal.experiments.tables import NOTHING, Table, number, percent

Result = Mapping[str, Any]


def tables(result: Result) -> list[Table]:
    """Figure 7 as a table, and the errors beside what was to be reached."""
    sizes = [[name, *_of_size(of)] for name, of in result["sizes"].items()]
    overall, goals, paper = result["overall"], result["goals"], result["paper"]
    errors = [
        ["ours", *_errors(overall), _seconds(overall["too_short_seconds"])],
        ["wanted", *_errors(goals), NOTHING],
        ["the paper", *_errors({}), _seconds(paper["too_short_seconds"])],
    ]
    return [
        Table("Reading with redistribution", ["size", "MB", "predicted, s", "took, s", "error, %", "moves"], sizes),
        Table("Errors", ["", "mean error, %", "worst, %", "predicted too short by, s"], errors),
    ]


def figure(result: Result) -> Figure:
    """Seconds by size, predicted and measured."""
    known = {name: of for name, of in result["sizes"].items() if of["n"]}
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label,
            "x": [int(name) for name in known],
            "y": [round(of[what], 2) for of in known.values()],
            "line": {"color": MARK_COLOURS[place], "dash": dash},
            "marker": {"color": MARK_COLOURS[place], "symbol": SYMBOLS[place], "size": 9},
            "hovertemplate": f"size %{{x}}, {label}: %{{y:.1f}} s<extra></extra>",
        }
        for place, (what, label, dash) in enumerate((("predicted", "predicted", "dot"), ("seconds", "took", "solid")))
    ]
    return {"data": data, "layout": layout("seconds", "rows of the matrix")}


def finding(result: Result) -> str:
    """The errors of the predictions against those that were to be reached."""
    overall, goals, paper = result["overall"], result["goals"], result["paper"]["too_short_seconds"]
    if overall["mean_error"] is None:
        return "No data have moved yet."
    return (
        f"The time of reading with redistribution is predicted to {percent(overall['mean_error'])} % on average, "
        f"{percent(overall['worst_error'])} % at worst (wanted: {percent(goals['mean_error'])} % and "
        f"{percent(goals['worst_error'])} %); it took {_seconds(overall['too_short_seconds'])} s longer than predicted "
        f"(paper: {_seconds(paper)} s, of up to {result['paper']['longest_seconds']:.0f} s)."
    )


def _of_size(of: Mapping[str, Any]) -> list[str]:
    if not of["n"]:
        return [NOTHING, NOTHING, NOTHING, NOTHING, "0"]
    error = f"{100 * of['error']:+.1f}"
    return [f"{of['bytes'] / 1e6:.1f}", number(of["predicted"]), number(of["seconds"]), error, str(of["n"])]


def _errors(of: Mapping[str, Any]) -> list[str]:
    return [percent(of.get("mean_error")), percent(of.get("worst_error"))]


def _seconds(ends: Mapping[str, float] | None) -> str:
    return f"{ends['least']:.1f} to {ends['most']:.1f}" if ends else NOTHING
