"""Reading budgets: how much of each is used and left. Reads sums and the jobs that are open, never a year of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.db.models import QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from scheduling.jobs.core.states import ACTIVE
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.projects.core.budget_state import BudgetState, OpenJob, worst_case
from scheduling.projects.models import Budget
from scheduling.projects.selectors import projects_of
from scheduling.runs.selectors import run_starts
from scheduling.usage.period_sums import node_time_of_projects

_HOUR = 3600e6  # microseconds


def budgets_of(person: User) -> QuerySet[Budget]:
    """The budgets of the projects that a person sees, the newest first."""
    return Budget.objects.filter(project__in=projects_of(person).values("pk")).select_related("project")


def current_budget(project: Project, now: datetime | None = None) -> Budget | None:
    """The budget of a project whose time it is; None where it has none now."""
    today = (now or timezone.now()).astimezone(UTC).date()
    rows = Budget.objects.filter(project=project, begins__lte=today, ends__gte=today)
    return rows.select_related("project").first()


def budget_state(budget: Budget, now: datetime | None = None) -> BudgetState:
    """What of a budget is used until now, and what its jobs may still take."""
    return budget_states([budget], now)[0]


def budget_states(budgets: Sequence[Budget], now: datetime | None = None) -> list[BudgetState]:
    """The same of several, in order: jobs that are in no sum, and those that are not over, are read once."""
    now = now or timezone.now()
    jobs = open_jobs(now)
    used = node_time_of_projects([(each.project_id, each.span) for each in budgets], now)
    return [
        _state(budget, time, jobs.get(budget.project_id, []) if budget.is_current(now) else [])
        for budget, time in zip(budgets, used, strict=True)
    ]


def _state(budget: Budget, time: int, jobs: list[OpenJob]) -> BudgetState:
    may_take, unlimited = worst_case(jobs)
    return BudgetState(budget.node_hours, time / _HOUR, may_take, len(jobs), unlimited, budget.warn_at)


def open_jobs(now: datetime) -> Mapping[int, list[OpenJob]]:
    """The jobs of each project that run or wait. Reads the jobs that are not over, which an index has."""
    found: dict[int, list[OpenJob]] = {}
    jobs = Job.objects.filter(ended_at=None, state__in=[state.value for state in ACTIVE], project__isnull=False)
    rows = list(jobs.order_by().values_list("pk", "project_id", "node_count", "time_limit"))
    starts = run_starts([row[0] for row in rows])
    for job, project, nodes, limit in rows:
        if project is not None:
            ran = max(0.0, (now - starts[job]).total_seconds()) if job in starts else 0.0
            found.setdefault(project, []).append(OpenJob(nodes, limit, ran))
    return found
