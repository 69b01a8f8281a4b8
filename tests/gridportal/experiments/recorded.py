"""Trials of each experiment as they might have been recorded, for summaries and pages."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from gridportal.experiments import catalogue, loadtraffic, skeletons, slowdown, telemetry
from gridportal.experiments.record import Record

_NODES = ["n1", "n2", "n3", "n4"]


def trials(name: str) -> dict[str, dict[str, Any]]:
    """Found by every trial of the scaled run; the same every time."""
    rng = random.Random(name)
    return {"slowdown": _slowdown, "loadtraffic": _loadtraffic, "skeletons": _skeletons, "telemetry": _telemetry}[name](
        rng
    )


def keep(name: str, folder: Path, *, complete: bool = True) -> dict[str, Any]:
    """The folder of an experiment that has ended; its result."""
    record = Record(folder, {"name": name, "seed": 1, "full": False})
    for key, found in trials(name).items():
        record.add(key, {"at": 1.0e9, "took": 2.0, **found})
    result = {**catalogue.summary(name, 1, folder, record.done, full=False), "complete": complete}
    record.write_progress(len(record.done), len(record.done), "", 1.0e9)
    record.write_result(result)
    return json.loads(json.dumps(result))


def _slowdown(rng: random.Random) -> dict[str, dict[str, Any]]:
    worse = {"random": 0.5, "all-all": 0.3, "pattern-only": 0.25, "pattern": 0.2, "oracle": 0.15}
    found: dict[str, dict[str, Any]] = {}
    for trial in slowdown.Slowdown(slowdown.SCALED, 1, Path("none"), None).trials():
        method = trial.facts.get("method")
        if method:
            slow = 0.0 if trial.facts["program"] == "ep" else worse[method] * rng.uniform(0.5, 1.5)
            found[trial.key] = {"nodes": _NODES, "seconds": 2.0 * (1 + slow), "choosing": 0.4}
        elif trial.key.endswith("dedicated"):
            found[trial.key] = {"nodes": _NODES, "seconds": 2.0}
    found["0/cg/pattern"]["predicted"] = [2.5, 2.2, 2.9]
    return found


def _loadtraffic(rng: random.Random) -> dict[str, dict[str, Any]]:
    found = {}
    for trial in loadtraffic.LoadTraffic(loadtraffic.SCALED, 1, Path("none"), None).trials():
        row = loadtraffic.PAPER_SECONDS[trial.facts["program"]]
        seconds = row["unloaded"] / 20
        if "condition" in trial.facts:
            seconds = row[trial.facts["method"]][trial.facts["condition"]] / 20 * rng.uniform(0.9, 1.1)
        found[trial.key] = {"nodes": _NODES, "seconds": seconds}
    return found


def _skeletons(rng: random.Random) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for trial in skeletons.Skeletons(skeletons.SCALED, 1, Path("none"), None).trials():
        slow = 1.0 if trial.key.endswith("reference") else rng.uniform(1.0, 3.0)
        seconds = 2.0 * slow
        loaded = {} if trial.key.endswith("reference") else {"loaded": None}
        found[trial.key] = {
            "nodes": _NODES,
            "seconds": seconds,
            "predicted": seconds * rng.uniform(0.97, 1.03),
            "skeleton": 0.1 * slow,
            **loaded,
        }
    return found


def _telemetry(rng: random.Random) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for trial in telemetry.Telemetry(10, 1, None).trials():
        off = 1 + rng.uniform(-0.08, 0.08)
        found[trial.key] = {
            "bandwidth": {"pairs": [{"pair": ["n1", "n2"], "measured": 50e6 * off, "shaped": 50e6}]},
            "flows": {"flows": [{"pair": ["n1", "n2"], "asked": 40e6 * off, "got": 40e6}]},
            "cpu": {"node": "n1", "said": 0.5 * off, "got": 0.5},
            "selection": {"nodes": _NODES, "measured": 80e6 * min(1.0, off), "best": 80e6},
        }[trial.facts["kind"]]
    return found
