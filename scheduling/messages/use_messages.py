"""What is said of budgets, reports, models that fail, and jobs that were read from logs."""

from __future__ import annotations

from gridportal.base.rates import hours_text
from gridportal.base.reasons import Code
from scheduling.messages.parts import full_stop
from scheduling.messages.registry import says


@says(Code.BUDGET_LOW)
def _(project: str, used: float, allocated: float, ends: str) -> str:
    left = f"{hours_text(allocated - used)} are left until {ends}"
    return f"Project {project} has used {hours_text(used)} of its {hours_text(allocated)} node-hours; {left}."


@says(Code.BUDGET_USED_UP)
def _(project: str, used: float, allocated: float, ends: str, refuses: bool) -> str:
    after = f"New jobs are refused until {ends}." if refuses else "Jobs go on all the same."
    return f"Project {project} has used {hours_text(used)} of its {hours_text(allocated)} node-hours. {after}"


@says(Code.BUDGET_USED_UP_WAITS)
def _(project: str, used: float, allocated: float, ends: str) -> str:
    figures = f"Project {project} has used {hours_text(used)} of its {hours_text(allocated)} node-hours."
    return f"{figures} New jobs wait until its budget is raised, or its time is over ({ends})."


@says(Code.BUDGET_WAITS)
def _(project: str, allocated: float, ends: str) -> str:
    used = f"project {project} has used all {allocated:,.10g} node-hours of its budget"
    after = f"It goes on when a manager raises the budget, or after its last day, {ends}."
    return f"Waiting for node-hours: {used}. {after}"


@says(Code.BUDGET_GOES_ON)
def _(project: str) -> str:
    return f"Project {project} has node-hours again; the nodes of this job are chosen next."


@says(Code.MODEL_FAILED)
def _(model: str, error: str) -> str:
    return f"The performance model {model} failed: {full_stop(error)} Runs of the program have no promise of it."


@says(Code.LOG_FAILED)
def _(line: int) -> str:
    return f"It failed, as the log says in line {line}."


@says(Code.LOG_CANCELLED)
def _(line: int) -> str:
    return f"It was cancelled, as the log says in line {line}."


@says(Code.REPORT_OF)
def _(begin: str, until: str) -> str:
    return f"It is of {begin} to {until}, UTC."
