"""The slowdown experiment as tables, figure and sentence, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.charts import BAR_COLOURS, Figure, bars, layout
from gridportal.experiments.slowdown.measurement import METHODS
from gridportal.experiments.tables import Table, interval, number, percent

Result = Mapping[str, Any]
_ALL, _PAPER = "all but ep", "the paper"
#: The ratios of the paper, and those that were to be reached.
_RATIOS = {"pattern/random": (0.51, 0.40), "pattern/all-all": (0.73, 0.65)}


def tables(result: Result) -> list[Table]:
    """Figure 3 as a table, and its ratios."""
    groups = {**result["programs"], _ALL: _with_intervals(result), _PAPER: _means(result["paper"]["mean_slowdown"])}
    rows = [[name, *(interval(methods.get(method)) for method in METHODS)] for name, methods in groups.items()]
    ratios = [
        [name.replace("/", " to "), number(result["ratios"][name]), f"{theirs:.2f}", f"{goal:.2f}"]
        for name, (theirs, goal) in _RATIOS.items()
    ]
    return [
        Table("Slowdown, per cent (95 % interval, from two rounds on)", ["program", *METHODS], rows),
        Table("How much of another method's slowdown is left", ["ratio", "ours", "the paper", "wanted"], ratios),
    ]


def figure(result: Result) -> Figure:
    """Bars by program and method; the paper's beside ours where there are any."""
    groups = {**result["programs"], _ALL: _with_intervals(result)}
    if any(groups.values()):
        groups[_PAPER] = _means(result["paper"]["mean_slowdown"])
    methods = [method for method in METHODS if any(method in measured for measured in groups.values())]
    data = [
        bars(method, {name: of[method] for name, of in groups.items() if method in of}, BAR_COLOURS[place])
        for place, method in enumerate(methods)
    ]
    return {"data": data, "layout": layout("slowdown, %")}


def finding(result: Result) -> str:
    """Mean slowdown of the paper's method and of random nodes, and their ratios."""
    means, ratios = result["mean_slowdown"], result["ratios"]
    if means["pattern"] is None or means["random"] is None:
        return "No program has run on nodes of both methods yet."
    left = [f"{value:.2f} of that of {name.split('/')[1]}" for name, value in ratios.items() if value is not None]
    return (
        f"Programs take {percent(means['pattern'])} % longer than on a network of their own with pattern and "
        f"skeletons, {percent(means['random'])} % on random nodes: {' and '.join(left) or 'no ratio yet'} "
        "(paper: 0.51 and 0.73; wanted: 0.40 and 0.65)."
    )


def _with_intervals(result: Result) -> dict[str, Any]:
    means = _means(result["mean_slowdown"])
    return {method: result["intervals"].get(method, mean) for method, mean in means.items()}


def _means(values: Mapping[str, float | None]) -> dict[str, Any]:
    return {method: {"mean": value} for method, value in values.items() if value is not None}
