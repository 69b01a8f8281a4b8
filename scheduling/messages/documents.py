"""What is kept or read as JSON, with the sentences that people get in the place of its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.messages.registry import message


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
