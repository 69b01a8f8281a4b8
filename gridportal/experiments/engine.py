"""Runs the trials of an experiment one after the other, in their order, those that are not recorded yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gridportal.errors import GridPortalError
from gridportal.experiments.record import Record

Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """One step: `key` names it for ever, `facts` say what to do."""

    key: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class Experiment(Protocol):
    """What an experiment has to say for itself."""

    name: str

    def trials(self) -> Sequence[Trial]:
        """All of them in their order; the same for the same options."""

    def perform(self, trial: Trial, done: Mapping[str, Found]) -> Found:
        """Do one; `done` are those before it. What it returns can be written as JSON."""

    def summarize(self, done: Mapping[str, Found]) -> dict[str, Any]:
        """The result so far, with the paper's figures under `paper` in the same shape."""


Watcher = Callable[[int, int, str], None]


def run(experiment: Experiment, record: Record, watch: Watcher, stopped: Callable[[], bool]) -> dict[str, Any]:
    """Perform what is not recorded; the summary, with `complete` false when it was stopped before the end.

    A trial that fails (GridPortalError) is recorded with its `error` and not tried again by itself; the others go on.
    """
    trials = experiment.trials()
    for number, trial in enumerate(trials):
        if trial.key in record.done:
            continue
        watch(number, len(trials), trial.key)
        record.write_progress(number, len(trials), trial.key, time.time())
        if stopped() or record.stop_wanted:
            break
        record.add(trial.key, _performed(experiment, trial, record.done))
    complete = all(trial.key in record.done for trial in trials)
    watch(_count(trials, record.done), len(trials), "")
    result = {**experiment.summarize(succeeded(record.done)), "complete": complete, "failed": failed(record.done)}
    record.write_progress(_count(trials, record.done), len(trials), "", time.time())
    record.write_result(result)
    return result


def succeeded(done: Mapping[str, Found]) -> dict[str, Found]:
    """The trials that found something."""
    return {key: found for key, found in done.items() if "error" not in found}


def failed(done: Mapping[str, Found]) -> dict[str, str]:
    """Why the others did not, by their keys."""
    return {key: str(found["error"]) for key, found in done.items() if "error" in found}


def _performed(experiment: Experiment, trial: Trial, done: Mapping[str, Found]) -> Found:
    began = time.time()
    try:
        found = dict(experiment.perform(trial, succeeded(done)))
    except GridPortalError as error:
        found = {"error": str(error)}
    return {**found, "at": began, "took": time.time() - began}


def _count(trials: Iterable[Trial], done: Mapping[str, Found]) -> int:
    return sum(trial.key in done for trial in trials)
