"""Table 1 of Selection 1999, in the shape of a result."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

CONDITIONS = ("load", "traffic", "both")
METHODS = ("random", "automatic")
#: In seconds; `unloaded` is the reference. The increase follows from it.
PAPER_SECONDS: dict[str, dict[str, Any]] = {
    "fft2d": {
        "nodes": 4,
        "unloaded": 48.0,
        "random": {"load": 112.6, "traffic": 80.3, "both": 142.6},
        "automatic": {"load": 82.6, "traffic": 64.6, "both": 118.5},
    },
    "airshed": {
        "nodes": 5,
        "unloaded": 150.0,
        "random": {"load": 393.8, "traffic": 281.3, "both": 530.2},
        "automatic": {"load": 254.0, "traffic": 188.5, "both": 355.1},
    },
    "mri": {
        "nodes": 4,
        "unloaded": 540.0,
        "random": {"load": 683.0, "traffic": 591.0, "both": 776.0},
        "automatic": {"load": 594.0, "traffic": 571.0, "both": 667.0},
    },
}


def paper() -> dict[str, Any]:
    """The table with the increases and their ratios."""
    programs = {name: _program(row) for name, row in PAPER_SECONDS.items()}
    return {"programs": programs, **ratios(programs)}


def ratios(programs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """How much of random's increase automatic selection leaves, by program and condition, and in the mean."""
    by_program = {name: {c: _ratio(of["increase"], c) for c in CONDITIONS} for name, of in programs.items()}
    measured = [ratio for of in by_program.values() for ratio in of.values() if ratio is not None]
    return {"ratios": by_program, "mean_ratio": fmean(measured) if measured else None}


def _program(row: Mapping[str, Any]) -> dict[str, Any]:
    seconds = {m: {c: {"mean": row[m][c]} for c in CONDITIONS} for m in METHODS}
    increase = {m: {c: {"mean": row[m][c] / row["unloaded"] - 1} for c in CONDITIONS} for m in METHODS}
    return {"nodes": row["nodes"], "unloaded": {"mean": row["unloaded"]}, "seconds": seconds, "increase": increase}


def _ratio(increase: Mapping[str, Mapping[str, Mapping[str, float]]], condition: str) -> float | None:
    """None where random has no increase."""
    ours, theirs = (increase[method].get(condition) for method in ("automatic", "random"))
    if not ours or not theirs or theirs["mean"] <= 0:
        return None
    return ours["mean"] / theirs["mean"]
