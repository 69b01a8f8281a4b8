"""Results of experiments as tables for people, the papers' figures beside ours."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from gridportal.experiments import loadtraffic, slowdown
from gridportal.experiments.statistics import spread


def show(name: str, result: dict[str, Any], console: Console) -> None:
    """The result as a table for people, the paper's figures beside ours."""
    shows = {"telemetry": _telemetry, "loadtraffic": _loadtraffic, "skeletons": _skeletons, "slowdown": _slowdown}
    shows[name](result, console)
    for key, why in result["failed"].items():
        console.print(f"{key} failed: {why}", highlight=False)


def _telemetry(result: dict[str, Any], console: Console) -> None:
    table = Table("question", "answers", "within", "share", "wanted", "median error", "worst", box=None)
    for kind, goal in result["goals"].items():
        answer = result[kind]
        if answer["n"]:
            figures = (f"{answer[name]:.3f}" for name in ("median_error", "worst_error"))
            table.add_row(
                kind, str(answer["n"]), f"{goal['within']:g}", f"{answer['share']:.3f}", f"{goal['share']:g}", *figures
            )
    console.print(table)


def _slowdown(result: dict[str, Any], console: Console) -> None:
    table = Table("program", *slowdown.METHODS, box=None, title="Slowdown against the dedicated time, per cent")
    for program, methods in result["programs"].items():
        table.add_row(program, *(_share(methods.get(method)) for method in slowdown.METHODS))
    mean = {method: {"mean": value} for method, value in result["mean_slowdown"].items() if value is not None}
    table.add_row("all but ep", *(_share(mean.get(method)) for method in slowdown.METHODS))
    paper = {method: {"mean": value} for method, value in result["paper"]["mean_slowdown"].items()}
    table.add_row("the paper", *(_share(paper.get(method)) for method in slowdown.METHODS))
    console.print(table)
    for ratio, value in result["ratios"].items():
        if value is not None:
            console.print(f"{ratio}: {value:.2f}")


def _share(found: dict[str, Any] | None) -> str:
    if not found:
        return "-"
    ends = spread(found)
    words = f" ({100 * ends[0]:z.0f} to {100 * ends[1]:z.0f})" if ends else ""
    return f"{100 * found['mean']:z.1f}{words}"


def _loadtraffic(result: dict[str, Any], console: Console) -> None:
    for whose, found in (("ours", result), ("the paper", result["paper"])):
        title = f"Table 1, {whose}: seconds (increase over the unloaded time in per cent)"
        heads = [f"{method} {condition}" for method in loadtraffic.METHODS for condition in loadtraffic.CONDITIONS]
        table = Table("program", "nodes", *heads, "unloaded", box=None, title=title)
        for name, program in found["programs"].items():
            cells = [_seconds(program, m, c) for m in loadtraffic.METHODS for c in loadtraffic.CONDITIONS]
            before = program["unloaded"]
            table.add_row(name, str(program["nodes"]), *cells, f"{before['mean']:.1f}" if before else "-")
        console.print(table)
        if found["mean_ratio"] is not None:
            console.print(f"increase automatic/random, {whose}: {found['mean_ratio']:.2f} (wanted: {result['goal']:g})")


def _seconds(program: dict[str, Any], method: str, condition: str) -> str:
    seconds, increase = (program[what][method].get(condition) for what in ("seconds", "increase"))
    return f"{seconds['mean']:.1f} ({100 * increase['mean']:+.0f})" if seconds else "-"


def _skeletons(result: dict[str, Any], console: Console) -> None:
    table = Table("program", "conditions", "mean error %", "worst %", "rank correlation", "share of time", box=None)
    rows = {**result["programs"], "all": result["overall"], "wanted": result["goals"]}
    rows["published"] = result["paper"]["overall"]
    for name, found in rows.items():
        cells = [_percent(found.get("mean_error")), _percent(found.get("worst_error"))]
        cells += ["-" if found.get(key) is None else f"{found[key]:.3f}" for key in ("correlation", "share")]
        table.add_row(name, str(found.get("n", "")), *cells)
    console.print(table)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
