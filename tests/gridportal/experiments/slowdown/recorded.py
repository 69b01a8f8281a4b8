"""Trials of the slowdown experiment as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.plan import Plan
from gridportal.experiments.slowdown.measurement import measurement

_NODES = ["n1", "n2", "n3", "n4"]
_WORSE = {"random": 0.5, "all-all": 0.3, "pattern-only": 0.25, "pattern": 0.2, "oracle": 0.15}


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = {}
    for trial in measurement(Plan("slowdown"), Path("none"), None).trials():
        method = trial.facts.get("method")
        if method:
            slow = 0.0 if trial.facts["program"] == "ep" else _WORSE[method] * rng.uniform(0.5, 1.5)
            recorded[trial.key] = {"nodes": _NODES, "seconds": 2.0 * (1 + slow), "choosing": 0.4}
        elif trial.key.endswith("dedicated"):
            recorded[trial.key] = {"nodes": _NODES, "seconds": 2.0}
    recorded["0/cg/pattern"]["predicted"] = [2.5, 2.2, 2.9]
    return recorded
