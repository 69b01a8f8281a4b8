"""Jobs of a project without node-hours, where its budget lets them wait: kept out of the line of their cluster, and let
go once the budget is raised, lets jobs go on, or is over. See docs/decisions/budgets.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.projects.budget_services import waiting_reason
from scheduling.projects.core.budget_state import WhenUsed
from scheduling.projects.models import Budget
from scheduling.usage.period_sums import node_time_of_projects

_HOUR = 3600e6  # microseconds


def settle_budgets() -> int:
    """Let the jobs go that have waited for node-hours and need not any more, and keep those that were let go of other
    jobs and would wait; how many. Without any such job it asks two questions of indexes."""
    now = timezone.now()
    held, new = _held(), _new(now)
    if not held and not new:
        return 0
    over = _used_up({project for project, _ in held.values()} | set(new.values()), now)
    freed = sum(_release(number) for number, (project, _) in held.items() if project not in over)
    for number, (project, reason) in held.items():
        if project in over and reason != (right := waiting_reason(over[project])):
            Job.objects.filter(pk=number, held_back=True).update(reason=right)
    return freed + sum(_hold(number, over[project]) for number, project in new.items() if _waits(over.get(project)))


def waiting_jobs() -> Counter[int]:
    """How many jobs of each project wait for node-hours now, by its key."""
    return Counter(project for project, _ in _held().values())


def _held() -> dict[int, tuple[int, Reason]]:
    """The jobs that wait for node-hours, with their projects and reasons."""
    rows = Job.objects.filter(held_back=True, project__isnull=False).order_by("pk")
    found = rows.values_list("pk", "project_id", "reason")
    return {pk: (project, reason) for pk, project, reason in found if reason.code is Code.BUDGET_WAITS}


def _new(now: datetime) -> dict[int, int]:
    """The jobs of projects whose jobs may have to wait that nobody has looked at yet; one with a run was accepted, and
    only starts elsewhere."""
    budgets = _current(now).filter(when_used=WhenUsed.WAIT).values("project")
    rows = Job.objects.filter(state=JobState.QUEUED, held_back=False, lease_holder="", project__in=budgets, runs=None)
    return dict(rows.order_by("pk").values_list("pk", "project_id"))


def _used_up(projects: Iterable[int], now: datetime) -> dict[int, Budget]:
    """The budgets of these projects of which nothing is left, and which do not let jobs go on."""
    rows = _current(now).filter(project__in=list(projects)).exclude(when_used=WhenUsed.WARN)
    budgets = list(rows.select_related("project"))
    used = node_time_of_projects([(each.project_id, each.span) for each in budgets], now)
    return {each.project_id: each for each, time in zip(budgets, used, strict=True) if time >= each.node_hours * _HOUR}


def _current(now: datetime) -> QuerySet[Budget]:
    today = now.astimezone(UTC).date()
    return Budget.objects.filter(begins__lte=today, ends__gte=today)


def _waits(budget: Budget | None) -> bool:
    return budget is not None and budget.when_used == WhenUsed.WAIT


@transaction.atomic
def _release(number: int) -> bool:
    rows = Job.objects.select_for_update(of=("self",)).select_related("project")
    job = rows.filter(pk=number, held_back=True).first()
    if job is None or job.project is None:
        return False
    why = Reason.of(Code.BUDGET_GOES_ON, project=job.project.name)
    return advance(job, JobState.QUEUED, reason=why, held_back=False, held_until=timezone.now())


def _hold(number: int, budget: Budget) -> bool:
    job = Job.objects.get(pk=number)
    return advance(job, JobState.WAITING, holder="", reason=waiting_reason(budget), held_back=True)
