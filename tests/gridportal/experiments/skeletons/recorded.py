"""Trials of the skeletons experiment as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.plan import Plan
from gridportal.experiments.skeletons.measurement import measurement


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = {}
    for trial in measurement(Plan("skeletons"), Path("none"), None).trials():
        is_reference = trial.key.endswith("reference")
        slow = 1.0 if is_reference else rng.uniform(1.0, 3.0)
        seconds = 2.0 * slow
        recorded[trial.key] = {
            "nodes": ["n1", "n2", "n3", "n4"],
            "seconds": seconds,
            "predicted": seconds * rng.uniform(0.97, 1.03),
            "skeleton": 0.1 * slow,
            **({} if is_reference else {"loaded": None}),
        }
    return recorded


def foreign_trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    """Of programs that are not the project's own; one of them has no skeleton."""
    recorded: dict[str, dict[str, Any]] = {}
    for trial in measurement(Plan("skeletons", foreign=True), Path("none"), None).trials():
        if trial.facts["program"] == "taskfarm":
            recorded[trial.key] = {"left_out": "mpifort.openmpi is not installed here."}
            continue
        slow = rng.uniform(1.0, 3.0)
        recorded[trial.key] = {
            "nodes": ["n1", "n2", "n3", "n4"],
            "seconds": 10.0 * slow,
            "predicted": 10.0 * slow * rng.uniform(0.97, 1.03),
            "skeleton": 0.45 * slow,
            **({} if trial.key.endswith("reference") else {"loaded": None}),
        }
    return recorded
