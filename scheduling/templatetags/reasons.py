"""Filters that make sentences of reasons on pages."""

from __future__ import annotations

from django import template

from gridportal.base.reasons import Code, Reason
from scheduling import messages
from scheduling.jobs.core.explanation import NextLink
from scheduling.messages import end_messages, node_messages, program_check, selection_messages

register = template.Library()


@register.filter
def message(reason: Reason | list[Reason]) -> str:
    """The sentence for a reason, or the sentences for some, one after the other."""
    return messages.messages(reason) if isinstance(reason, list) else messages.message(reason)


@register.filter
def check_text(passed: bool, state: str) -> str:
    """What the check of a program said, and what became of its run."""
    return program_check.check_text(passed, state)


@register.filter
def end_of_itself(source: str) -> str:
    """What says how long a job still takes."""
    return end_messages.of_itself(source)


@register.filter
def end_of_others(source: str) -> str:
    """What says when the job that has some nodes ends."""
    return end_messages.of_others(source)


@register.filter
def node_kind(reason: Reason) -> str:
    """What a kind of reason for not taking a node is called in a count."""
    return node_messages.kind(reason)


@register.filter
def better_link(better: NextLink) -> str:
    """What better links would buy."""
    return selection_messages.better_link(better)


@register.filter
def brief(reason: Reason) -> str:
    """The sentence without what stands beside it on the page."""
    return messages.brief(reason)


@register.filter
def held_for(reason: Reason) -> str:
    """For what a job is held back, in some words for a list."""
    return "for node-hours" if reason.code is Code.BUDGET_WAITS else "for other jobs"
