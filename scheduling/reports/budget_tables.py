"""Budgets of projects as a tab of the report."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.rates import rounded_percent
from scheduling.projects.budget_messages import WHEN_USED
from scheduling.projects.budget_selectors import budget_states, budgets_of
from scheduling.projects.budget_waiting import waiting_jobs
from scheduling.projects.core.budget_state import BudgetLevel, WhenUsed
from scheduling.reports.report_section import MOST_BARS, Cell, Chart, Head, Section
from scheduling.reports.use_cells import counted
from scheduling.reports.use_tables import compared_projects
from scheduling.usage.ranges import Range

_HEADS = (
    Head("project", "Project"),
    Head("from", "From"),
    Head("to", "To"),
    Head("allocated_node_hours", "Node-hours", Cell.NUMBER),
    Head("used_node_hours", "Used", Cell.NUMBER),
    Head("left_node_hours", "Left", Cell.NUMBER),
    Head("used_percent", "Used, % of budget", Cell.PERCENT),
    Head("may_take_node_hours", "Open jobs may take", Cell.NUMBER),
    Head("waiting_jobs", "Jobs waiting", Cell.NUMBER),
    Head("state", "State"),
    Head("when_used_up", "When used up"),
)
#: So many budgets are added up for a report, the newest.
MOST_BUDGETS = 200


def budget_sections(person: User, span: Range) -> list[Section]:
    """The budgets whose time has a part in this one."""
    return [compared_projects(person, span), _budgets(person, span)]


def _budgets(person: User, span: Range) -> Section:
    last = (span.until - timedelta(microseconds=1)).date()
    rows = list(budgets_of(person).filter(begins__lte=last, ends__gte=span.begin.date())[:MOST_BUDGETS])
    found = list(zip(rows, budget_states(rows), strict=True))
    waiting, now = waiting_jobs(), timezone.now()
    found.sort(key=lambda item: -item[1].percent)
    values = tuple(
        (
            row.project.name,
            row.begins.isoformat(),
            row.ends.isoformat(),
            *(round(value, 4) for value in (state.allocated, state.used, state.left)),
            rounded_percent(state.percent / 100),
            round(state.may_take, 4),
            waiting[row.project_id] if row.is_current(now) else 0,
            state.level.value,
            WHEN_USED[WhenUsed(row.when_used)],
        )
        for row, state in found
    )
    finding = "No project has a budget in this time. Managers give one on the page of a project."
    if found:
        over = sum(1 for _, state in found if state.level is BudgetLevel.USED_UP)
        low = sum(1 for _, state in found if state.level is BudgetLevel.LOW)
        finding = f"{counted(len(found), 'budget')}: {over} used up, {low} nearly used up."
    shown = found[:MOST_BARS]
    names = tuple(f"{row.project.name}, {row.begins}" for row, _ in shown)
    percents = tuple(rounded_percent(state.percent / 100) for _, state in shown)
    chart = Chart("Used, % of budget", names, percents) if len(shown) > 1 else None
    note = "Used and left are of the whole time of each budget. Jobs waiting: for node-hours, now." if found else ""
    return Section("budgets", "Budgets of projects", finding, _HEADS, values, note, chart)
