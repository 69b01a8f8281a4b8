"""A trial as the page and REST have it: JSON with sentences in the place of its reasons. Seconds everywhere."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scheduling.messages.registry import message
from scheduling.skeletons.core.trial_story import TrialStory, TriedGroup

_SKELETON = {
    "planned": "not yet",
    "prepared": "is handed over",
    "running": "runs",
    "missing": "missing at its cluster",
    "stopping": "is stopped",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "skipped": "not run",
}


def trial_document(trial: TrialStory | None) -> dict[str, Any] | None:
    """The whole, or why there was none; None when nobody asked for one."""
    if trial is None:
        return None
    if trial.untried:
        return {"untried": message(trial.untried), "rows": []}
    outcome = trial.outcome
    return {
        "rows": [_row(row) for row in trial.rows],
        "finding": message(outcome.finding),
        "over": trial.over,
        "awaits_choice": trial.awaits_choice,
        "groups": trial.groups,
        "ran": outcome.ran,
        "ended": outcome.ended,
        "compared": outcome.compared,
        "spent": trial.spent,
        "overrun": trial.overrun,
        "budget": trial.budget,
        "won": outcome.won,
        "by": outcome.by,
        "application": trial.application,
        "override": trial.override,
    }


def _row(row: TriedGroup) -> dict[str, Any]:
    shown = {field.name: getattr(row, field.name) for field in fields(row)}
    return {**shown, "words": _SKELETON[row.state], "reason": message(row.reason)}
