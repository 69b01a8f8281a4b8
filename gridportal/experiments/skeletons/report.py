"""Programs against what their skeletons predicted, as tables, figure and sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.experiments.charts import MARK_COLOURS, SYMBOLS, Figure, layout
from gridportal.experiments.tables import NOTHING, Table, number, percent

Result = Mapping[str, Any]


def tables(result: Result) -> list[Table]:
    """Errors by program beside what was to be reached, what was left out and why, then every condition."""
    foreign = any("mpi" in program for program in result["programs"].values())
    of_others = ["MPI", "language"] if foreign else []
    measured = ["conditions", "mean error, %", "worst, %", "rank correlation", "share of the time, %"]
    groups = {**result["programs"], "all": result["overall"], "wanted": result["goals"]}
    groups["published"] = result["paper"]["overall"]
    rows = [[name, *(_linked(of) if foreign else []), *_errors(of)] for name, of in groups.items()]
    left_out = [[name, reason] for name, reason in _left_out(result).items()]
    conditions = [
        [name, *_condition(point)] for name, program in result["programs"].items() for point in program["points"]
    ]
    each = ["program", "condition", "nodes", "busy node", "took, s", "predicted, s", "error, %"]
    return [
        Table("Programs", ["program", *of_others, *measured], rows, text_columns=1 + len(of_others)),
        *([Table("Left out", ["program", "why"], left_out, text_columns=2)] if left_out else []),
        Table("Conditions", each, conditions, detail=True),
    ]


def figure(result: Result) -> Figure:
    """A mark for each program and condition, and the line on which they would lie."""
    data, most = [], 1.0
    for place, (name, program) in enumerate(result["programs"].items()):
        took, predicted = (_multiples(program, what) for what in ("seconds", "predicted"))
        most = max([most, *took, *predicted])
        data.append(_marks(name, program, took, predicted, place))
    if any(trace["x"] for trace in data):
        data.append(_diagonal(most))
    return {"data": data, "layout": layout("predicted / reference", "took / reference")}


def finding(result: Result) -> str:
    """The errors of the predictions against those that were to be reached."""
    overall, goals = result["overall"], result["goals"]
    if overall["mean_error"] is None:
        return "No skeleton has been compared with its program yet."
    left_out = ", ".join(_left_out(result))
    return (
        f"Skeletons of {percent(overall['share'])} % of the time predict their programs to "
        f"{percent(overall['mean_error'])} % on average, {percent(overall['worst_error'])} % at worst (wanted: "
        f"{percent(goals['mean_error'])} % and {percent(goals['worst_error'])} %)"
        f"{_correlations(overall, goals)}{_farthest(result)}{f'; left out: {left_out}' if left_out else ''}."
    )


def _correlations(overall: Mapping[str, Any], goals: Mapping[str, Any]) -> str:
    """Of the program with the least, and of all conditions together; nothing while there are too few of them."""
    if overall["correlation"] is None:
        return ""
    together = overall.get("together")
    of_all = "" if together is None else f", that of all conditions together {number(together)}"
    least = f"the least rank correlation is {number(overall['correlation'])}"
    return f"; {least}{of_all} (wanted: {number(goals['correlation'])})"


def _farthest(result: Result) -> str:
    """Of programs of others: which of them is predicted worst, and how it was built."""
    compared = {name: of for name, of in result["programs"].items() if of["n"] and "mpi" in of}
    if not compared:
        return ""
    name = max(compared, key=lambda one: compared[one]["mean_error"])
    worst = compared[name]
    return f"; farthest off is {name} ({', '.join(_linked(worst))}), {percent(worst['mean_error'])} % on average"


def _linked(program: Mapping[str, Any]) -> list[str]:
    return [program.get("mpi", ""), program.get("language", "")]


def _left_out(result: Result) -> dict[str, str]:
    """Nothing in results of earlier versions."""
    return dict(result.get("left_out", {}))


def _errors(of: Mapping[str, Any]) -> list[str]:
    shares = [percent(of.get(key)) for key in ("mean_error", "worst_error")]
    return [str(of.get("n", "")), *shares, number(of.get("correlation")), percent(of.get("share"))]


def _condition(point: Mapping[str, Any]) -> list[str]:
    seconds = [f"{point['seconds']:.2f}", f"{point['predicted']:.2f}", f"{100 * point['error']:+.1f}"]
    return [str(point["condition"]), " ".join(point["nodes"]), point["loaded"] or NOTHING, *seconds]


def _multiples(program: Mapping[str, Any], what: str) -> list[float]:
    return [round(point[what] / program["reference"], 4) for point in program["points"]]


def _marks(
    name: str, program: Mapping[str, Any], took: list[float], predicted: list[float], place: int
) -> dict[str, Any]:
    label = f"{name} ({', '.join(_linked(program))})" if "mpi" in program else name
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": took,
        "y": predicted,
        "text": [", ".join(point["nodes"]) for point in program["points"]],
        "marker": {"color": MARK_COLOURS[place % len(MARK_COLOURS)], "symbol": _symbol(place), "size": 9},
        "hovertemplate": f"{label} on %{{text}}<br>took %{{x:.2f}}, predicted %{{y:.2f}}<extra></extra>",
    }


def _diagonal(most: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "as predicted",
        "x": [0, most],
        "y": [0, most],
        "line": {"color": "--rule", "dash": "dot", "width": 1},
        "hoverinfo": "skip",
    }


def _symbol(place: int) -> str:
    """Another one than before where the colours begin anew."""
    return SYMBOLS[(place + place // len(MARK_COLOURS)) % len(SYMBOLS)]
