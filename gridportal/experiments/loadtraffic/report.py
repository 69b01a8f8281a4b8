"""Table 1 of ours beside the paper's, as tables, figure and sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.charts import BAR_COLOURS, Figure, bars, layout
from gridportal.experiments.loadtraffic.paper import CONDITIONS, METHODS
from gridportal.experiments.tables import NOTHING, Table, interval, number

Result = Mapping[str, Any]
_CONDITIONS = {"load": "load", "traffic": "traffic", "both": "load and traffic"}
_PAPER_COLOURS = {"random": "--a1", "automatic": "--risk"}


def tables(result: Result) -> list[Table]:
    """Seconds and increases beside the paper's, then the increases with their intervals."""
    cells = [(name, program, c) for name, program in result["programs"].items() for c in CONDITIONS]
    heads = ["program", "nodes", "under", "random, s", "automatic, s", "unloaded, s", "left"]
    heads += ["paper: random, s", "automatic, s", "unloaded, s", "left"]
    rows = []
    for name, program, c in cells:
        ours, theirs = (_of_table_1(whose, name, c) for whose in (result, result["paper"]))
        rows.append([name, str(program["nodes"]), _CONDITIONS[c], *ours, *theirs])
    increases = [
        [name, _CONDITIONS[c], *(interval(program["increase"][method].get(c)) for method in METHODS)]
        for name, program, c in cells
    ]
    return [
        Table("Table 1, ours and the paper's: seconds (increase over the unloaded time in per cent)", heads, rows),
        Table("Increase, per cent (95 % interval)", ["program", "under", *METHODS], increases),
    ]


def figure(result: Result) -> Figure:
    """Bars of the increases by program and condition, the paper's hatched."""
    data = []
    for place, method in enumerate(METHODS):
        ours, theirs = (_by_condition(whose["programs"], method) for whose in (result, result["paper"]))
        data.append(bars(method, ours, BAR_COLOURS[3 * place]))
        # The paper's figures beside nothing would only confuse.
        drawn = bars(f"{method}, paper", {name: theirs[name] for name in ours}, _PAPER_COLOURS[method])
        drawn["marker"]["pattern"] = {"shape": "/", "fillmode": "replace", "size": 6}
        data.append(drawn)
    return {"data": data, "layout": layout("increase, %")}


def finding(result: Result) -> str:
    """How much of the increase on random nodes is left."""
    if result["mean_ratio"] is None:
        return "No program has run with both methods under the same load yet."
    return (
        f"With automatically selected nodes {result['mean_ratio']:.2f} of the increase on random ones is left, on "
        f"average (paper: {result['paper']['mean_ratio']:.2f}; wanted: {result['goal']:.2f})."
    )


def _of_table_1(result: Result, name: str, condition: str) -> list[str]:
    program = result["programs"][name]
    both = [(program["seconds"][m].get(condition), program["increase"][m].get(condition)) for m in METHODS]
    cells = [f"{s['mean']:.1f} ({100 * i['mean']:+.0f})" if s and i else NOTHING for s, i in both]
    before = f"{program['unloaded']['mean']:.1f}" if program["unloaded"] else NOTHING
    return [*cells, before, number(result["ratios"][name][condition])]


def _by_condition(programs: Mapping[str, Any], method: str) -> dict[str, Any]:
    return {
        f"{name} {condition}": program["increase"][method][condition]
        for name, program in programs.items()
        for condition in CONDITIONS
        if condition in program["increase"][method]
    }
