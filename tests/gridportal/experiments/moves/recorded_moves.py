"""Trials of an experiment on moves as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments import registry
from gridportal.experiments.plan import Plan

COSTS = {"predicted": 12.0, "worst-case": 20.0}


def recorded(name: str, rng: random.Random) -> dict[str, dict[str, Any]]:
    """Where the portal decides all are moved, and it pays."""
    experiment = registry.named(name)
    keys = [trial.key for trial in experiment.measurement(Plan(name), Path("none"), None).trials()]
    return {key: run(moved=key.endswith("/portal"), seconds=rng.uniform(50, 60)) for key in keys}


def run(*, moved: bool, seconds: float, gain: float = 0.5, worst_gain: float = 0.4, jobs: int = 1) -> dict[str, Any]:
    """What a case process answers; one that stays takes four times as long."""
    took = seconds if moved else 4 * seconds
    decision = {
        "at": 12.0,
        "mode": "on-request",
        "state": "verified" if moved else "observed",
        "threshold": 0.3,
        "costs": COSTS,
        "phases": {kind: {"redistribution": cost / 2} for kind, cost in COSTS.items()},
        "gains": {"predicted": gain, "worst-case": worst_gain},
    }
    nodes = ["msc1", "msc2", "msc3", "msc4"]
    return {
        "jobs": [{"state": "succeeded", "seconds": took, "runs": [{"nodes": nodes, "seconds": took}]}] * jobs,
        "nodes": nodes,
        "seconds": took,
        "rule": "portal" if moved else "stay",
        "loaded": 6.5,
        "decisions": [decision],
        "moves": [{"state": "moved", "total": 13.0, "reading": 5.0}] if moved else [],
        "moved": moved,
        "calls": [{"at": 11.0}],
    }
