"""Trials of each experiment as they might have been recorded, for summaries and pages.

An experiment's own folder of tests has them: `recorded.trials(rng)` there gives one for every trial of its scaled plan.
"""

from __future__ import annotations

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

from gridportal.experiments import registry
from gridportal.experiments.engine import summary
from gridportal.experiments.plan import Plan
from gridportal.experiments.record import Record


def trials(name: str) -> dict[str, dict[str, Any]]:
    """Measured by every trial of the scaled plan; the same every time."""
    module = import_module(f"tests.gridportal.experiments.{name.replace('-', '_')}.recorded")
    return dict(module.trials(random.Random(name)))


def summarized(name: str, folder: Path, done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The result of these trials."""
    return summary(registry.named(name), Plan(name), folder, done)


def keep(name: str, folder: Path, *, complete: bool = True) -> dict[str, Any]:
    """The folder of an experiment that has ended; its result."""
    record = Record(folder, Plan(name).document())
    for key, trial in trials(name).items():
        record.add(key, {"at": 1.0e9, "took": 2.0, **trial})
    result = {**summarized(name, folder, record.done), "complete": complete}
    record.write_progress(len(record.done), len(record.done), "", 1.0e9)
    record.write_result(result)
    return dict(json.loads(json.dumps(result)))
