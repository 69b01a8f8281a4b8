"""What is kept or read as JSON, with the sentences that people get in the place of its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.messages.registry import message

_SKELETON = {
    "planned": "not yet",
    "running": "runs",
    "stopping": "is stopped",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "skipped": "not run",
}


def candidates(groups: Iterable[CandidateGroup]) -> list[dict[str, Any]]:
    """The candidate groups of a placement or a selection."""
    return [_candidate(group) for group in groups]


def _candidate(group: CandidateGroup) -> dict[str, Any]:
    shown = {**group.document(), "reason": message(group.reason)}
    if group.selected is not None:
        shown["selected"] = message(group.selected)
    if group.skeleton:
        shown["skeleton"] = {**group.skeleton.document(), "reason": message(group.skeleton.reason)}
    return shown


def trial(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A trial as `trial_selectors.trial` reads it."""
    if found is None:
        return None
    words = {name: message(found[name]) for name in ("untried", "finding") if name in found}
    rows = [{**row, "words": _SKELETON[row["state"]], "reason": message(row["reason"])} for row in found["rows"]]
    return {**found, **words, "rows": rows}
