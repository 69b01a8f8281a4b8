"""What managers do with budgets, and what budgets do: each change has a reason and is in the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import partial
from math import isfinite
from typing import Any

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.project_models import Project
from scheduling.notices.core.notice_kinds import NoticeKind
from scheduling.notices.selectors import budget_people
from scheduling.notices.services.writing_notices import tell
from scheduling.projects.budget_selectors import budget_state, current_budget
from scheduling.projects.core.budget_state import BudgetLevel, BudgetState, WhenUsed
from scheduling.projects.models import Budget
from scheduling.runs.services.isolation import isolated

MOST_NODE_HOURS = 1e9
#: Days that a budget may name.
_FIRST_DAY, _LAST_DAY = date(1970, 1, 1), date(2200, 12, 31)
FIELDS = ("node_hours", "begins", "ends", "warn_at", "when_used")


@transaction.atomic
def make_budget(actor: User, project: Project, values: Mapping[str, Any], reason: str) -> Budget:
    """A new budget of a project. Raises InputError that names the field."""
    Project.objects.select_for_update().get(pk=project.pk)  # of two at once the second sees the first
    row = Budget(project=project, **values)
    _check(row)
    row.save()
    audit(actor, "budget.make", project, reason=_reason(reason), **_told(row))
    return row


@transaction.atomic
def change_budget(actor: User, pk: int, values: Mapping[str, Any], reason: str, version: int) -> Budget:
    """Other values of a budget. `version`: the one that the person saw. Raises ConflictError where somebody else has
    changed it since, InputError that names the field."""
    project = Budget.objects.values_list("project_id", flat=True).get(pk=pk)
    Project.objects.select_for_update().get(pk=project)
    row = Budget.objects.select_related("project").get(pk=pk)
    if row.version != version:
        raise ConflictError(
            "Somebody else has changed this budget meanwhile. Look at the new values and enter yours again."
        )
    before = _told(row)
    for name in FIELDS:
        setattr(row, name, values.get(name, getattr(row, name)))
    _check(row)
    row.version, row.warned_at, row.used_up_at = version + 1, None, None
    row.save()
    audit(actor, "budget.change", row.project, reason=_reason(reason), before=before, **_told(row))
    return row


def check_budget(project: Project) -> Reason:
    """Of a project whose budget is used up, where the project wants that: why a new job waits, or raises InputError to
    refuse it."""
    budget = current_budget(project)
    if budget is None or budget.when_used == WhenUsed.WARN:
        return NOTHING
    state = budget_state(budget)
    if state.level is not BudgetLevel.USED_UP:
        return NOTHING
    if budget.when_used == WhenUsed.REFUSE:
        used = f"{project.name} has used all {state.allocated:,.10g} node-hours of its budget until {budget.ends}"
        raise InputError("project", project.name, f"another project, or none: {used}")
    return waiting_reason(budget)


def waiting_reason(budget: Budget) -> Reason:
    """Why jobs of its project wait."""
    facts = {"allocated": budget.node_hours, "ends": budget.ends.isoformat()}
    return Reason.of(Code.BUDGET_WAITS, project=budget.project.name, **facts)


def warn_of_budgets() -> int:
    """Tell the people of each project once that little is left of its budget, and once that nothing is; how many
    notices."""
    today = timezone.now().date()
    rows = Budget.objects.filter(begins__lte=today, ends__gte=today, used_up_at=None).values_list("pk", flat=True)
    return sum(isolated(f"budget {pk}", partial(_warn, pk)).value or 0 for pk in rows)


def _warn(pk: int) -> int:
    state = budget_state(Budget.objects.get(pk=pk))
    if state.level is BudgetLevel.PLENTY:
        return 0
    with transaction.atomic():
        row = Budget.objects.select_for_update().get(pk=pk)
        is_over = state.level is BudgetLevel.USED_UP
        if row.used_up_at or (row.warned_at and not is_over) or row.node_hours != state.allocated:
            return 0
        row.warned_at = row.warned_at or timezone.now()
        row.used_up_at = timezone.now() if is_over else None
        row.save(update_fields=["warned_at", "used_up_at"])
        about: dict[str, Any] = {"project": row.project, "reason": _why(row, state)}
        return sum(tell(person, NoticeKind.BUDGET, **about) for person in budget_people(row.project))


def _why(row: Budget, state: BudgetState) -> Reason:
    facts = {
        "project": row.project.name,
        "used": state.used,
        "allocated": state.allocated,
        "ends": row.ends.isoformat(),
    }
    if state.level is BudgetLevel.USED_UP:
        if row.when_used == WhenUsed.WAIT:
            return Reason.of(Code.BUDGET_USED_UP_WAITS, **facts)
        return Reason.of(Code.BUDGET_USED_UP, **facts, refuses=row.when_used == WhenUsed.REFUSE)
    return Reason.of(Code.BUDGET_LOW, **facts)


def _check(row: Budget) -> None:
    if not isfinite(row.node_hours) or not 0 < row.node_hours <= MOST_NODE_HOURS:
        raise InputError("node_hours", row.node_hours, f"a number above 0, up to {MOST_NODE_HOURS:,.0f}")
    if not _FIRST_DAY <= row.begins <= _LAST_DAY:
        raise InputError("begins", str(row.begins), f"a day from {_FIRST_DAY} to {_LAST_DAY}")
    if not row.begins <= row.ends <= _LAST_DAY:
        raise InputError("ends", str(row.ends), f"a day from {row.begins} to {_LAST_DAY}")
    if not 1 <= row.warn_at <= 100:
        raise InputError("warn_at", row.warn_at, "a whole number from 1 to 100")
    if row.when_used not in list(WhenUsed):
        raise InputError("when_used", row.when_used, f"one of {', '.join(WhenUsed)}")
    others = Budget.objects.filter(project=row.project, begins__lte=row.ends, ends__gte=row.begins).exclude(pk=row.pk)
    if (other := others.first()) is not None:
        taken = f"another budget goes from {other.begins} to {other.ends}"
        raise InputError("begins", str(row.begins), f"a time in which the project has no other budget; {taken}")


def _reason(text: str) -> str:
    reason = " ".join(text.split())
    if not 3 <= len(reason) <= 500 or not reason.isprintable():
        raise InputError("reason", text[:40], "a reason of 3 to 500 characters")
    return reason


def _told(row: Budget) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in FIELDS}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}
