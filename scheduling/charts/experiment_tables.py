"""Results of experiments as tables, the papers' figures beside ours: what the charts show, for all to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.experiments import loadtraffic, slowdown, telemetry
from gridportal.experiments.statistics import spread

Result = Mapping[str, Any]
NOTHING = "—"
_CONDITIONS = {"load": "load", "traffic": "traffic", "both": "load and traffic"}


@dataclass(frozen=True)
class Table:
    """Heads and rows of words; the first column names the row."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Run:
    """One trial, down to its nodes. Times in seconds; `predicted` of the chosen group; of telemetry how much was
    compared and the worst error, as in its result."""

    key: str
    at: float | None
    nodes: Sequence[str]
    seconds: float | None
    predicted: float | None
    choosing: float | None
    took: float | None
    error: str
    compared: int = 0
    worst: float | None = None


def tables(name: str, result: Result) -> list[Table]:
    """The tables of an experiment's result."""
    return {"slowdown": _slowdown, "loadtraffic": _loadtraffic, "skeletons": _skeletons, "telemetry": _telemetry}[name](
        result
    )


def runs(trials: Mapping[str, Mapping[str, Any]]) -> list[Run]:
    """Every trial of an experiment, in its order."""
    return [
        Run(
            key=key,
            at=found.get("at"),
            nodes=found.get("nodes") or [],
            seconds=found.get("seconds"),
            predicted=_lowest(found.get("predicted")),
            choosing=found.get("choosing"),
            took=found.get("took"),
            error=str(found.get("error", "")),
            compared=len(errors := telemetry.errors_of(found)),
            worst=max(errors, default=None),
        )
        for key, found in trials.items()
    ]


def _lowest(predicted: Any) -> float | None:
    if isinstance(predicted, list):
        return min(predicted, default=None)
    return predicted if isinstance(predicted, int | float) else None


def _slowdown(result: Result) -> list[Table]:
    rows = [[name, *(_interval(found.get(m)) for m in slowdown.METHODS)] for name, found in result["programs"].items()]
    ours = {m: result["intervals"].get(m, {"mean": v}) for m, v in result["mean_slowdown"].items() if v is not None}
    rows.append(["all but ep", *(_interval(ours.get(m)) for m in slowdown.METHODS)])
    paper = result["paper"]["mean_slowdown"]
    rows.append(["the paper", *(_interval({"mean": paper[m]} if m in paper else None) for m in slowdown.METHODS)])
    ratios = [
        ["pattern to random", _number(result["ratios"]["pattern/random"]), "0.51", "0.40"],
        ["pattern to all-all", _number(result["ratios"]["pattern/all-all"]), "0.73", "0.65"],
    ]
    return [
        Table("Slowdown, per cent (95 % interval, from two rounds on)", ["program", *slowdown.METHODS], rows),
        Table("How much of another method's slowdown is left", ["ratio", "ours", "the paper", "wanted"], ratios),
    ]


def _loadtraffic(result: Result) -> list[Table]:
    cells = [(name, found, c) for name, found in result["programs"].items() for c in loadtraffic.CONDITIONS]
    heads = ["program", "nodes", "under", "random, s", "automatic, s", "unloaded, s", "left"]
    heads += ["paper: random, s", "automatic, s", "unloaded, s", "left"]
    rows = [
        [
            name,
            str(found["nodes"]),
            _CONDITIONS[c],
            *_of_table_1(result, name, c),
            *_of_table_1(result["paper"], name, c),
        ]
        for name, found, c in cells
    ]
    increases = [
        [name, _CONDITIONS[c], *(_interval(found["increase"][method].get(c)) for method in loadtraffic.METHODS)]
        for name, found, c in cells
    ]
    return [
        Table("Table 1, ours and the paper's: seconds (increase over the unloaded time in per cent)", heads, rows),
        Table("Increase, per cent (95 % interval)", ["program", "under", *loadtraffic.METHODS], increases),
    ]


def _of_table_1(found: Result, name: str, condition: str) -> list[str]:
    program = found["programs"][name]
    both = [(program["seconds"][m].get(condition), program["increase"][m].get(condition)) for m in loadtraffic.METHODS]
    cells = [f"{s['mean']:.1f} ({100 * i['mean']:+.0f})" if s and i else NOTHING for s, i in both]
    before = f"{program['unloaded']['mean']:.1f}" if program["unloaded"] else NOTHING
    return [*cells, before, _number(found["ratios"][name][condition])]


def _skeletons(result: Result) -> list[Table]:
    heads = ["program", "conditions", "mean error, %", "worst, %", "rank correlation", "share of the time, %"]
    named = {**result["programs"], "all": result["overall"], "wanted": result["goals"]}
    named["published"] = result["paper"]["overall"]
    rows = [
        [
            name,
            str(found.get("n", "")),
            *(_percent(found.get(key)) for key in ("mean_error", "worst_error")),
            _number(found.get("correlation")),
            _percent(found.get("share")),
        ]
        for name, found in named.items()
    ]
    points = [
        [
            name,
            str(point["condition"]),
            " ".join(point["nodes"]),
            point["loaded"] or NOTHING,
            f"{point['seconds']:.2f}",
            f"{point['predicted']:.2f}",
            f"{100 * point['error']:+.1f}",
        ]
        for name, found in result["programs"].items()
        for point in found["points"]
    ]
    each = ["program", "condition", "nodes", "busy node", "took, s", "foretold, s", "error, %"]
    return [Table("Programs", heads, rows), Table("Conditions", each, points)]


def _telemetry(result: Result) -> list[Table]:
    heads = ["question", "answers", "error at most", "share so good, %", "wanted, %", "median error", "worst error"]
    rows = [
        [
            kind,
            str(result[kind]["n"]),
            f"{goal['within'] if kind != 'selection' else 1 - goal['within']:.2f}",
            _percent(result[kind]["share"]),
            _percent(goal["share"]),
            _number(result[kind]["median_error"], 3),
            _number(result[kind]["worst_error"], 3),
        ]
        for kind, goal in result["goals"].items()
    ]
    return [Table("Shares of good answers", heads, rows)]


def _interval(found: Mapping[str, float] | None) -> str:
    if not found:
        return NOTHING
    ends = spread(found)
    words = f" ({100 * ends[0]:z.0f} to {100 * ends[1]:z.0f})" if ends else ""
    return f"{100 * found['mean']:z.1f}{words}"


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f}"


def _number(value: float | None, digits: int = 2) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"
