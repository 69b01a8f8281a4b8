"""What is kept or read as JSON, with the sentences that people get in the place of its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gridportal.base.reasons import Reason
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


def candidates(groups: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The candidate groups of a placement or a selection."""
    return [_candidate(group) for group in groups]


def _candidate(group: Mapping[str, Any]) -> dict[str, Any]:
    shown = {**group, **{name: message(Reason.read(group[name])) for name in ("reason", "selected") if name in group}}
    tried = group.get("skeleton")
    return {**shown, "skeleton": {**tried, "reason": message(Reason.read(tried.get("reason", "")))}} if tried else shown


def trial(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A trial as `trial_selectors.trial` reads it."""
    if found is None:
        return None
    words = {name: message(found[name]) for name in ("untried", "finding") if name in found}
    rows = [{**row, "words": _SKELETON[row["state"]], "reason": message(row["reason"])} for row in found["rows"]]
    return {**found, **words, "rows": rows}
