"""Runs the trials of an experiment one after the other, in their order, those that are not recorded yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gridportal.base.errors import GridPortalError
from gridportal.experiments.interface import Experiment, Measurement, Result, Trial, TrialResult
from gridportal.experiments.plan import Plan
from gridportal.experiments.record import Record

#: Called with the trials done, the trials in all, and the key of the one that begins.
Watcher = Callable[[int, int, str], None]


def run(
    measurement: Measurement, paper: Result, record: Record, watch: Watcher, stopped: Callable[[], bool]
) -> dict[str, Any]:
    """Perform what is not recorded; the summary, with `complete` false when it was stopped before the end.

    A trial that fails (GridPortalError) is recorded with its `error` and not tried again by itself; the others go on.
    """
    trials = measurement.trials()
    for number, trial in enumerate(trials):
        if trial.key in record.done:
            continue
        watch(number, len(trials), trial.key)
        record.write_progress(number, len(trials), trial.key, time.time())
        if stopped() or record.stop_wanted:
            break
        record.add(trial.key, _performed(measurement, trial, record.done))
    complete = all(trial.key in record.done for trial in trials)
    watch(_count(trials, record.done), len(trials), "")
    result = {**_summary(measurement, paper, record.done), "complete": complete}
    record.write_progress(_count(trials, record.done), len(trials), "", time.time())
    record.write_result(result)
    return result


def count(experiment: Experiment, plan: Plan, folder: Path) -> int:
    """How many trials it has, without any Grid."""
    return len(experiment.measurement(plan, folder, None).trials())


def summary(experiment: Experiment, plan: Plan, folder: Path, done: Mapping[str, TrialResult]) -> dict[str, Any]:
    """The result of the trials so far, without any Grid."""
    return _summary(experiment.measurement(plan, folder, None), experiment.paper, done)


def _summary(measurement: Measurement, paper: Result, done: Mapping[str, TrialResult]) -> dict[str, Any]:
    return {**measurement.summarize(_succeeded(done)), "paper": paper, "failed": _failed(done)}


def _succeeded(done: Mapping[str, TrialResult]) -> dict[str, TrialResult]:
    """The trials that measured something."""
    return {key: result for key, result in done.items() if "error" not in result}


def _failed(done: Mapping[str, TrialResult]) -> dict[str, str]:
    """Why the others did not, by their keys."""
    return {key: str(result["error"]) for key, result in done.items() if "error" in result}


def _performed(measurement: Measurement, trial: Trial, done: Mapping[str, TrialResult]) -> TrialResult:
    began = time.time()
    try:
        result = dict(measurement.perform(trial, _succeeded(done)))
    except GridPortalError as error:
        result = {"error": str(error)}
    return {**result, "at": began, "took": time.time() - began}


def _count(trials: Iterable[Trial], done: Mapping[str, TrialResult]) -> int:
    return sum(trial.key in done for trial in trials)
