"""What is said of budgets, reports, and jobs that were read from logs."""

from __future__ import annotations

from gridportal.base.reasons import Code
from scheduling.messages.registry import says


@says(Code.BUDGET_LOW)
def _(project: str, used: float, allocated: float, ends: str) -> str:
    left = f"{allocated - used:,.2f} are left until {ends}"
    return f"Project {project} has used {used:,.2f} of its {allocated:,.2f} node-hours; {left}."


@says(Code.BUDGET_USED_UP)
def _(project: str, used: float, allocated: float, ends: str, refuses: bool) -> str:
    after = f"New jobs are refused until {ends}." if refuses else "Jobs go on all the same."
    return f"Project {project} has used {used:,.2f} of its {allocated:,.2f} node-hours. {after}"


@says(Code.LOG_FAILED)
def _(line: int) -> str:
    return f"It failed, as the log says in line {line}."


@says(Code.LOG_CANCELLED)
def _(line: int) -> str:
    return f"It was cancelled, as the log says in line {line}."


@says(Code.REPORT_OF)
def _(begin: str, until: str) -> str:
    return f"It is of {begin} to {until}, UTC."
