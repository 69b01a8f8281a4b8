"""What the trials come to: errors of the model, what the mapper's shares cost, and where the selected set stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from gridportal.experiments.cactus.plans import Kind, Part

Results = Mapping[str, Mapping[str, Any]]
#: What the issue wants; fractions.
GOALS = {
    "computing": {"mean_error": 0.05, "worst_error": None},
    "communication": {"mean_error": 0.08, "worst_error": 0.25},
    "shares": {"above_best": 0.01},
    "selection": {"above_best": 0.03},
}


def summary(done: Results) -> dict[str, Any]:
    """By part; null where nothing is known yet."""
    return {
        "computing": _errors(_runs(done, Part.COMPUTING)),
        "communication": _errors(_runs(done, Part.COMMUNICATION)),
        "shares": _shares(_runs(done, Part.SHARES)),
        "selection": _selection(done),
        "points": _points(done),
    }


def _runs(done: Results, part: Part) -> list[Mapping[str, Any]]:
    return [ran for ran in done.values() if ran.get("part") == part and ran.get("kind") == Kind.RUN]


def _errors(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of both models of contention, how far the loads that were last told, and those that were forecast, were from the
    true ones (processes), and the error of each run, with its sign."""
    known = [ran for ran in runs if "predicted" in ran]
    errors = [abs(ran["predicted"] / ran["seconds"] - 1) for ran in known]
    lockstep = [abs(ran["predicted_lockstep"] / ran["seconds"] - 1) for ran in known]
    return {
        "n": len(known),
        "mean_error": fmean(errors) if errors else None,
        "worst_error": max(errors, default=None),
        "lockstep_mean_error": fmean(lockstep) if lockstep else None,
        "lockstep_worst_error": max(lockstep, default=None),
        "load_error": fmean(_load_error(ran, "seen") for ran in known) if known else None,
        "forecast_error": fmean(_load_error(ran, "forecast") for ran in known) if known else None,
        "cases": {_case(ran): ran["predicted"] / ran["seconds"] - 1 for ran in known},
    }


def _load_error(ran: Mapping[str, Any], of: str) -> float:
    return max((abs(load - ran["loads"].get(node, 0.0)) for node, load in ran[of].items()), default=0.0)


def _case(ran: Mapping[str, Any]) -> str:
    machines = " ".join(dict.fromkeys(ran["nodes"]))
    return f"{machines}, {ran['size']}, load {ran['load']:g}"


def _shares(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Median seconds by how many planes the division was moved; the mapper's own is at 0."""
    by_offset: dict[int, list[float]] = {}
    divisions = {}
    for ran in runs:
        by_offset.setdefault(ran["offset"], []).append(ran["seconds"])
        divisions[ran["offset"]] = ran["division"]
    seconds = {str(offset): median(by_offset[offset]) for offset in sorted(by_offset)}
    mapped = seconds.get("0")
    best = min(seconds.values(), default=None)
    return {
        "seconds": seconds,
        "divisions": {str(offset): divisions[offset] for offset in sorted(divisions)},
        "division": divisions.get(0),
        "above_best": mapped / best - 1 if mapped and best else None,
        "n": len(runs),
    }


def _selection(done: Results) -> dict[str, Any]:
    chosen = {ran["candidates"]: ran for ran in done.values() if ran.get("kind") == Kind.CHOICE}
    return {name: _of_candidates(name, ran, done) for name, ran in chosen.items()}


def _of_candidates(name: str, choice: Mapping[str, Any], done: Results) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {}
    for ran in [*_runs(done, Part.SELECTION), *_runs(done, Part.SIX)]:
        if ran["candidates"] == name:
            seconds.setdefault(" ".join(sorted(ran["set"])), []).append(ran["seconds"])
    sets = {each: median(values) for each, values in seconds.items()}
    own, best = sets.get(" ".join(choice["selected"])), min(sets.values(), default=None)
    return {
        "selected": choice["selected"],
        "sets": sets,
        "is_fastest": own == best if own and best else None,
        "above_best": own / best - 1 if own and best else None,
    }


def _points(done: Results) -> dict[str, list[list[float]]]:
    """Predicted and measured seconds of each run, for the figure."""
    return {
        part.value: [[ran["predicted"], ran["seconds"]] for ran in _runs(done, part) if "predicted" in ran]
        for part in (Part.COMPUTING, Part.COMMUNICATION)
    }
