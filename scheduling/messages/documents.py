"""What is kept or read as JSON, with the sentences that people get in the place of its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.explanation import Explanation
from scheduling.messages.node_messages import kind
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


def explanation(why: Explanation) -> dict[str, Any]:
    """Why other nodes were not taken: how many for each kind of reason, nodes one by one where they are few, what a
    better link would buy, among which nodes the choice was made, and what is not used of a mapper's answer."""
    counts = [{"code": each.reason.code.value, "kind": kind(each.reason), "nodes": each.nodes} for each in why.counts]
    nodes = [{"node": each.node, "code": each.reason.code.value, "reason": message(each.reason)} for each in why.nodes]
    return {
        "counts": counts,
        "nodes": nodes,
        "next_link": why.next_link.document() if why.next_link else None,
        "among": message(why.among),
        "remarks": [message(each) for each in why.remarks],
    }
