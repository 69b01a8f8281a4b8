"""Trials of the telemetry experiment as they might have been recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.plan import Plan
from gridportal.experiments.telemetry.measurement import measurement


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    return {
        trial.key: _recorded(trial.facts["kind"], 1 + rng.uniform(-0.08, 0.08))
        for trial in measurement(Plan("telemetry"), Path("none"), None).trials()
    }


def _recorded(kind: str, off: float) -> dict[str, Any]:
    return {
        "bandwidth": {"pairs": [{"pair": ["n1", "n2"], "measured": 50e6 * off, "shaped": 50e6}]},
        "flows": {"flows": [{"pair": ["n1", "n2"], "asked": 40e6 * off, "got": 40e6}]},
        "cpu": {"node": "n1", "said": 0.5 * off, "got": 0.5},
        "selection": {"nodes": ["n1", "n2", "n3", "n4"], "measured": 80e6 * min(1.0, off), "best": 80e6},
    }[kind]
