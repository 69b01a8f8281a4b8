"""Budgets in words."""

from __future__ import annotations

from scheduling.jobs.core.units import hours_text
from scheduling.projects.core.budget_state import BudgetLevel, BudgetState, WhenUsed
from scheduling.projects.models import Budget

WHEN_USED = {
    WhenUsed.WARN: "People are told; jobs go on",
    WhenUsed.REFUSE: "New jobs are refused from then on",
    WhenUsed.WAIT: "New jobs wait until there are node-hours again",
}
WHAT_IS_NEW = (
    "A job that is submitted again, or with random nodes, is new. Jobs that were accepted before stay in their line "
    "and go on: also those that move, are put back into the queue, or are released from a hold."
)
_AFTER = {
    WhenUsed.WARN: "Jobs go on all the same.",
    WhenUsed.REFUSE: "New jobs are refused.",
    WhenUsed.WAIT: "New jobs wait until the budget is raised or its time is over.",
}


def finding(budget: Budget, state: BudgetState) -> str:
    """How much is left, in one sentence."""
    figures = f"{hours_text(state.used)} of {hours_text(state.allocated)} node-hours until {budget.ends} are used"
    if state.level is BudgetLevel.USED_UP:
        return f"The budget is used up: {figures}. {_AFTER[WhenUsed(budget.when_used)]}"
    return f"{figures}, {hours_text(state.left)} are left."


def may_take(state: BudgetState) -> str:
    """What its open jobs may still take; empty where there are none."""
    if not state.open_jobs:
        return ""
    jobs = "1 job that runs or waits" if state.open_jobs == 1 else f"{state.open_jobs} jobs that run or wait"
    words = f"{jobs} may still take {hours_text(state.may_take)} node-hours by time limit"
    if state.unlimited:
        words += f"; {state.unlimited} of them {'has' if state.unlimited == 1 else 'have'} no time limit"
    return f"{words}. That is more than is left." if state.is_overdrawn else f"{words}."


def job_may_take(state: BudgetState, nodes: int, limit: float | None) -> str:
    """What a new job may take of what is left; empty where nothing is."""
    if state.left <= 0:
        return ""
    if limit is None:
        return (
            f"This job has no time limit, so it may take all of the {hours_text(max(0.0, state.left))} node-hours left."
        )
    most = nodes * limit / 3600
    words = f"This job may take {hours_text(most)} node-hours"
    if most > state.left:
        return f"{words}, more than the {hours_text(max(0.0, state.left))} that are left."
    return f"{words} of the {hours_text(state.left)} that are left."
