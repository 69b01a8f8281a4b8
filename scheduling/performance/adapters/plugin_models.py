"""Performance models of others, found by entry point and asked in processes of their own, with a time limit."""

from __future__ import annotations

import json
import math

from gridportal.base import bounded_json, plugin_processes
from gridportal.base.errors import GridPortalError, InputError, ShellError
from gridportal.base.plugin_processes import ask_apart, failure_of, plugin_names
from gridportal.network.topology import dump
from scheduling.performance.core.performance_model import ENTRY_POINTS, RunQuestion
from scheduling.performance.core.phase_prediction import MOST_PHASES, MOST_POINTS, PhasePrediction

#: Seconds in which a plug-in must have answered.
PATIENCE = 10.0
_MOST_SAID = 300
#: So many reports a phase has at most.
_MOST_REPORTS = 10**12
_PROCESS = "scheduling.performance.adapters.plugin_process"
#: Plug-ins that come with the portal, each with the one program that it knows: a process takes a second.
SHIPPED = {"cactus": "cactus"}


class ModelError(GridPortalError):
    """A model that gave no prediction; the text is what it said itself."""


def names() -> list[str]:
    """The plug-ins that are installed."""
    return plugin_names(ENTRY_POINTS)


def is_shipped(name: str) -> bool:
    """Whether it is one of the portal's own."""
    return plugin_processes.is_shipped(ENTRY_POINTS, name)


def asked_about(application: str) -> list[str]:
    """Those that may know a program: all but those of the portal's own that are for another."""
    return [name for name in names() if SHIPPED.get(name, application) == application]


def predict(name: str, question: RunQuestion, patience: float = PATIENCE) -> tuple[PhasePrediction, ...] | None:
    """Its prediction; None where it does not know the application. Raises ModelError."""
    try:
        ended = ask_apart(_PROCESS, name, json.dumps(question_document(question)), patience)
    except ShellError as error:
        raise ModelError(str(error)) from error
    try:
        answer = bounded_json.loads(ended.stdout.encode())
    except bounded_json.UnreadableError as error:
        died = _last_line(failure_of(ended))
        raise ModelError(died if ended.returncode else error.sentence) from error
    if not isinstance(answer, dict) or "error" in answer:
        raise ModelError(str(answer.get("error") if isinstance(answer, dict) else answer)[:_MOST_SAID])
    return None if answer.get("applies") is False else _phases(answer.get("phases"))


def question_document(question: RunQuestion) -> dict[str, object]:
    """What goes to its standard input."""
    return {
        "application": question.application,
        "parameters": dict(question.parameters),
        "nodes": list(question.nodes),
        "network": dump(question.network),
    }


def _phases(documents: object) -> tuple[PhasePrediction, ...]:
    try:
        if not isinstance(documents, list) or not 1 <= len(documents) <= MOST_PHASES:
            raise InputError("phases", documents, f"1 to {MOST_PHASES} phases")
        phases = tuple(map(PhasePrediction.read, documents))
        if len({each.phase for each in phases}) < len(phases):
            raise InputError("phases", [each.phase for each in phases], "each phase once")
        for each in phases:
            if each.count is not None and not 1 <= each.count <= _MOST_REPORTS:
                raise InputError(f"count of {each.phase}", each.count, f"from 1 to {_MOST_REPORTS:,}, or none")
            if len(each.seconds) > MOST_POINTS or not all(math.isfinite(s) and s >= 0 for s in each.seconds):
                raise InputError(f"seconds of {each.phase}", each.seconds, f"1 to {MOST_POINTS} numbers from 0 on")
    except InputError as error:
        raise ModelError(str(error)[:_MOST_SAID]) from error
    return phases


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:_MOST_SAID] if lines else ""
