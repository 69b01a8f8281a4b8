"""Trials of the loadtraffic experiment as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.loadtraffic.measurement import measurement
from gridportal.experiments.loadtraffic.paper import PAPER_SECONDS
from gridportal.experiments.plan import Plan


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    recorded = {}
    for trial in measurement(Plan("loadtraffic"), Path("none"), None).trials():
        row = PAPER_SECONDS[trial.facts["program"]]
        seconds = row["unloaded"] / 20
        if "condition" in trial.facts:
            seconds = row[trial.facts["method"]][trial.facts["condition"]] / 20 * rng.uniform(0.9, 1.1)
        recorded[trial.key] = {"nodes": ["n1", "n2", "n3", "n4"], "seconds": seconds}
    return recorded
