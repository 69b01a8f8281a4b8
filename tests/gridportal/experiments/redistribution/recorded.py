"""Trials of the redistribution experiment as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.plan import Plan
from gridportal.experiments.redistribution.measurement import NEW, measurement


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = {}
    for trial in measurement(Plan("redistribution"), Path("none"), None).trials():
        if "size" not in trial.facts:
            recorded[trial.key] = {"topology": {"nodes": [], "links": []}, "gathered": 1e9}
            continue
        size = trial.facts["size"]
        seconds = 8.0 * size * size / 2.5e6
        recorded[trial.key] = {
            "size": size,
            "nodes": list(NEW),
            "bytes": 8 * size * (size + 1) + 8,
            "predicted": seconds * rng.uniform(0.92, 0.99),
            "seconds": seconds,
            "choosing": 0.01,
        }
    return recorded
