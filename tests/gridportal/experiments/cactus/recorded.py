"""Trials of the Cactus experiment as they might have been recorded: the model is right to some per cent."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from gridportal.experiments.cactus.measurement import measurement
from gridportal.experiments.cactus.plans import Kind, Part
from gridportal.experiments.cactus.predicting import box_of, line_of_facts
from gridportal.experiments.plan import Plan
from scheduling.performance.core.cactus_model import (
    CactusMachine,
    Exchange,
    PointCost,
    execution_seconds,
    lockstep_execution_seconds,
)

COST = PointCost(7.5e-9, 3e-4)
START_UP = 4.0


def hop(first: CactusMachine, second: CactusMachine) -> Exchange:
    return Exchange(2e-3, 8 / 100e6) if first.site == second.site else Exchange(3e-3, 8 / 20e6)


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = {}
    for trial in measurement(Plan("cactus"), Path("none"), None).trials():
        facts = dict(trial.facts)
        if facts["kind"] == Kind.CHOICE:
            recorded[trial.key] = {**facts, "selected": chosen(facts["candidates"]), "predicted": 5.0, "exact": True}
            continue
        box, line = box_of(facts), line_of_facts(facts)
        models = (execution_seconds, lockstep_execution_seconds)
        true, lockstep = (each(box, line, COST, hop, 0.0) for each in models)
        loop = true * (rng.uniform(0.95, 1.05) if facts["kind"] == Kind.RUN else 1.0)
        start_up = START_UP if facts["part"] == Part.COMMUNICATION else 0.0
        ran = {"loop": loop, "iteration": loop / box.iterations, "start_up": START_UP, "seen": facts["loads"]}
        ran["forecast"] = facts["loads"]
        recorded[trial.key] = {**facts, **ran, "seconds": loop + start_up}
        if facts["kind"] == Kind.RUN:
            recorded[trial.key] |= {"predicted": true + start_up, "predicted_lockstep": lockstep + start_up}
    return recorded


def chosen(candidates: str) -> list[str]:
    return ["mystere", "o", "saltimbanco"] if candidates == "one-site" else ["torc6"]
