"""Results of experiments as Plotly figures, each with the sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.experiments import loadtraffic, slowdown
from gridportal.experiments.statistics import spread

Result = Mapping[str, Any]
#: Light to dark in the order of the methods, so that they differ without colour too.
_BARS = ("--a4", "--r2", "--r3", "--r4", "--a1")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
_INK = ("--r3", "--a1", "--a3", "--r2", "--a2", "--risk", "--good")
#: Plotly takes null for 0 and draws the caps of a whisker; what is no number it leaves out.
_NO_WHISKER = "none"
_ALL, _PAPER = "all but ep", "the paper"


def figure(name: str, result: Result) -> dict[str, Any] | None:
    """The figure of an experiment's result; None while there is nothing to draw."""
    drawn = {"slowdown": _slowdown, "loadtraffic": _loadtraffic, "skeletons": _skeletons, "telemetry": _telemetry}
    found = drawn[name](result)
    return found if any(len(trace["x"]) for trace in found["data"]) else None


def finding(name: str, result: Result) -> str:
    """One sentence: what was found, against what was to be reached."""
    says = {
        "slowdown": _says_slowdown,
        "loadtraffic": _says_loadtraffic,
        "skeletons": _says_skeletons,
        "telemetry": _says_telemetry,
    }
    return says[name](result)


def words(name: str) -> str:
    """What is drawn, for who cannot see it and as a caption."""
    return {
        "slowdown": "Slowdown against the dedicated time by program and method, with 95 % intervals from two rounds "
        "on; on the right the means over all programs but EP, and those of the paper (figure 3). Traffic cannot speed "
        "a program up: bars below zero are the scatter of the machine.",
        "loadtraffic": "Increase over the unloaded time by program and condition, with 95 % intervals; hatched are "
        "the paper's (table 1).",
        "skeletons": "Each mark is a program under one condition: across what it took, up what its skeleton foretold, "
        "both as multiples of the program's reference time. On the line both agree.",
        "telemetry": "For each question the share of answers (up) whose error is at most so large (across); diamonds "
        "are the goals.",
    }[name]


def _slowdown(result: Result) -> dict[str, Any]:
    groups = {**result["programs"], _ALL: _with_intervals(result)}
    if any(groups.values()):
        groups[_PAPER] = _only_means(result["paper"]["mean_slowdown"])
    methods = [m for m in slowdown.METHODS if any(m in found for found in groups.values())]
    data = [
        _bars(method, {name: found[method] for name, found in groups.items() if method in found}, _BARS[place])
        for place, method in enumerate(methods)
    ]
    return {"data": data, "layout": _layout("slowdown, %")}


def _with_intervals(result: Result) -> dict[str, Any]:
    known = _only_means(result["mean_slowdown"])
    return {method: result["intervals"].get(method, mean) for method, mean in known.items()}


def _only_means(values: Mapping[str, float | None]) -> dict[str, Any]:
    return {method: {"mean": value} for method, value in values.items() if value is not None}


def _loadtraffic(result: Result) -> dict[str, Any]:
    data = []
    for place, method in enumerate(loadtraffic.METHODS):
        ours, paper = (_by_condition(found["programs"], method) for found in (result, result["paper"]))
        data.append(_bars(method, ours, _BARS[3 * place]))
        # The paper's figures beside nothing would only confuse.
        drawn = _bars(f"{method}, paper", {name: paper[name] for name in ours}, ("--a1", "--risk")[place])
        drawn["marker"]["pattern"] = {"shape": "/", "fillmode": "replace", "size": 6}
        data.append(drawn)
    return {"data": data, "layout": _layout("increase, %")}


def _by_condition(programs: Mapping[str, Any], method: str) -> dict[str, Any]:
    return {
        f"{name} {condition}": found["increase"][method][condition]
        for name, found in programs.items()
        for condition in loadtraffic.CONDITIONS
        if condition in found["increase"][method]
    }


def _skeletons(result: Result) -> dict[str, Any]:
    data, most = [], 1.0
    for place, (name, found) in enumerate(result["programs"].items()):
        points = found["points"]
        took = [round(point["seconds"] / found["reference"], 4) for point in points]
        told = [round(point["predicted"] / found["reference"], 4) for point in points]
        most = max([most, *took, *told])
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": took,
                "y": told,
                "text": [", ".join(point["nodes"]) for point in points],
                "marker": {"color": _INK[place % 7], "symbol": _SYMBOLS[place % 7], "size": 9},
                "hovertemplate": f"{name} on %{{text}}<br>took %{{x:.2f}}, foretold %{{y:.2f}}<extra></extra>",
            }
        )
    if any(trace["x"] for trace in data):
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "as foretold",
                "x": [0, most],
                "y": [0, most],
                "line": {"color": "--rule", "dash": "dot", "width": 1},
                "hoverinfo": "skip",
            }
        )
    layout = _layout("foretold / reference")
    layout["xaxis"] = {"title": {"text": "took / reference"}, "rangemode": "tozero"}
    return {"data": data, "layout": layout}


def _telemetry(result: Result) -> dict[str, Any]:
    data = []
    for place, (kind, goal) in enumerate(result["goals"].items()):
        errors = sorted(result["errors"][kind])
        shares = [round(100 * (at + 1) / len(errors), 2) for at in range(len(errors))]
        within = goal["within"] if kind != "selection" else 1 - goal["within"]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": kind,
                "x": [round(error, 4) for error in errors],
                "y": shares,
                "line": {"shape": "hv", "color": _INK[place], "dash": ("solid", "dash", "dot", "dashdot")[place]},
            }
        )
        if errors:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": f"goal of {kind}",
                    "x": [within],
                    "y": [100 * goal["share"]],
                    "marker": {"color": _INK[place], "symbol": "diamond", "size": 11},
                    "showlegend": False,
                }
            )
    layout = _layout("answers, %")
    layout["xaxis"] = {"title": {"text": "error"}, "rangemode": "tozero"}
    return {"data": data, "layout": layout}


def _bars(name: str, values: Mapping[str, Mapping[str, float]], token: str) -> dict[str, Any]:
    figures = list(values.values())
    reach = [_reach(value) for value in figures]
    return {
        "type": "bar",
        "name": name,
        "x": list(values),
        "y": [_percent(value["mean"]) for value in figures],
        "marker": {"color": token},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high for _, high in reach],
            "arrayminus": [low for low, _ in reach],
            "color": "--ink",
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": f"%{{x}}, {name}: %{{y:.1f}} %<extra></extra>",
    }


def _reach(value: Mapping[str, float]) -> tuple[float | str, float | str]:
    """How far the interval goes below and above the mean."""
    ends = spread(value)
    if ends is None:
        return _NO_WHISKER, _NO_WHISKER
    return _percent(value["mean"] - ends[0]), _percent(ends[1] - value["mean"])


def _layout(title: str) -> dict[str, Any]:
    return {
        "barmode": "group",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "yaxis": {"title": {"text": title}, "zeroline": True},
        "xaxis": {"showgrid": False},
        "margin": {"l": 56, "r": 8, "t": 40, "b": 56},
    }


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _says_slowdown(result: Result) -> str:
    means, ratios = result["mean_slowdown"], result["ratios"]
    if means["pattern"] is None or means["random"] is None:
        return "No program has run on nodes of both methods yet."
    left = [f"{value:.2f} of that of {name.split('/')[1]}" for name, value in ratios.items() if value is not None]
    return (
        f"Programs take {_in_percent(means['pattern'])} longer than on a network of their own with pattern and "
        f"skeletons, {_in_percent(means['random'])} on random nodes: {' and '.join(left) or 'no ratio yet'} "
        "(paper: 0.51 and 0.73; wanted: 0.40 and 0.65)."
    )


def _says_loadtraffic(result: Result) -> str:
    if result["mean_ratio"] is None:
        return "No program has run with both methods under the same load yet."
    return (
        f"With automatically selected nodes {result['mean_ratio']:.2f} of the increase on random ones is left, on "
        f"average (paper: {result['paper']['mean_ratio']:.2f}; wanted: {result['goal']:.2f})."
    )


def _says_skeletons(result: Result) -> str:
    overall, goals = result["overall"], result["goals"]
    if overall["mean_error"] is None:
        return "No skeleton has been held against its program yet."
    return (
        f"Skeletons of {_in_percent(overall['share'])} of the time foretell their programs to "
        f"{_in_percent(overall['mean_error'])} on average, {_in_percent(overall['worst_error'])} at worst (wanted: "
        f"{_in_percent(goals['mean_error'])} and {_in_percent(goals['worst_error'])})."
    )


def _says_telemetry(result: Result) -> str:
    known = {kind: result[kind] for kind in result["goals"] if result[kind]["n"]}
    if not known:
        return "No question has been asked yet."
    missed = [kind for kind in known if not result["reached"][kind]]
    if not missed:
        if len(known) < len(result["goals"]):
            return f"So far as well as was wanted: {_and(list(known)).lower()}; the other questions are not asked yet."
        return f"All {len(known)} questions are answered as well as was wanted."
    return f"{_and(missed)} {'misses its goal' if len(missed) == 1 else 'miss their goals'}; the rest are reached."


def _and(names: Sequence[str]) -> str:
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return text.capitalize()


def _in_percent(value: float) -> str:
    return f"{100 * value:.1f} %"
