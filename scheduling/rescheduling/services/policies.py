"""By which rules a cluster and a job are moved: read with their defaults, and changed by people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.checked_numbers import above_zero, is_number, whole
from gridportal.base.errors import InputError
from scheduling.jobs.models import Job
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.decision_states import Policy
from scheduling.rescheduling.core.move_cost import CostKind
from scheduling.rescheduling.core.move_windows import MoveWindows, Window
from scheduling.rescheduling.core.weighing import MoveRules
from scheduling.rescheduling.models import JobMovePolicy, ReschedulingPolicy

_DAY = 86_400


def rules_of(policy: ReschedulingPolicy, threshold: float) -> MoveRules:
    """The rules of a cluster as a value. Raises InputError for hours that cannot be read."""
    return MoveRules(
        threshold=threshold,
        job_cooldown=timedelta(seconds=policy.job_cooldown),
        node_cooldown=timedelta(seconds=policy.node_cooldown),
        most_per_hour=policy.most_per_hour,
        most_per_job=policy.most_per_job,
        windows=MoveWindows(windows(policy.allow), windows(policy.deny)),
    )


def windows(text: str) -> tuple[Window, ...]:
    """The windows of a text, one on each line. Raises InputError that names the line.

    >>> len(windows("mon-fri 08:00-18:00\\n\\nsat 10:00-12:00"))
    2
    """
    return tuple(Window.parse(line) for line in text.splitlines() if line.strip())


@transaction.atomic
def change_policy(actor: User, cluster: str, changes: Mapping[str, Any]) -> ReschedulingPolicy:
    """Change what is named in `changes`. Raises InputError that names the field, and changes nothing then."""
    if cluster not in settings.CLUSTERS:
        raise InputError("cluster", cluster, f"one of {', '.join(sorted(settings.CLUSTERS))}")
    checked = {name: _checked(name, value) for name, value in changes.items()}
    ReschedulingPolicy.objects.get_or_create(cluster=cluster)
    row = ReschedulingPolicy.objects.select_for_update().get(cluster=cluster)
    for name, value in checked.items():
        setattr(row, name, value)
    row.changed_by = actor.username
    row.save()
    audit(actor, "moves.change_policy", row, cluster=cluster, **checked)
    return row


@transaction.atomic
def change_job_policy(
    actor: User, job: Job, *, opted_out: bool | None = None, policy: str | None = None
) -> JobMovePolicy:
    """Say of one job whether it is moved at all, and by which policy; "" is its cluster's. Raises InputError."""
    row, _ = JobMovePolicy.objects.select_for_update().get_or_create(job=job)
    if opted_out is not None:
        row.opted_out = opted_out
    if policy is not None:
        row.policy = _word(Policy, "policy", policy) if policy else ""
    row.save()
    audit(actor, "job.change_moves", job, opted_out=row.opted_out, policy=row.policy)
    return row


def policy_for(job: Job) -> Policy:
    """What is done with a move of this job that pays."""
    own = selectors.job_policy(job)
    return Policy(own.policy if own and own.policy else selectors.policy(job.cluster).policy)


def _checked(name: str, value: Any) -> Any:
    if name not in _CHECKS:
        raise InputError("policy", name, "one of " + ", ".join(_CHECKS))
    return _CHECKS[name](name, value)


def _hours(name: str, value: Any) -> str:
    text = str(value).strip()
    windows(text)
    return text


def _share(name: str, value: Any) -> float:
    if not is_number(value) or not 0 <= value < 1:
        raise InputError(name, value, "a share from 0 to below 1, such as 0.3")
    return float(value)


def _yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(name, value, "true or false")
    return value


def _word(kind: type[StrEnum], name: str, value: Any) -> str:
    if value not in [each.value for each in kind]:
        raise InputError(name, value, "one of " + ", ".join(each.value for each in kind))
    return str(value)


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "policy": partial(_word, Policy),
    "cost_kind": partial(_word, CostKind),
    "cost_scale": partial(above_zero, most=1000, unit="a number"),
    "threshold": _share,
    "learns_threshold": _yes_or_no,
    "changes_ranks": _yes_or_no,
    "expires_after": partial(whole, least=1, most=_DAY),
    "most_per_hour": partial(whole, least=0, most=1000),
    "most_per_job": partial(whole, least=0, most=1000),
    "job_cooldown": partial(whole, least=0, most=_DAY),
    "node_cooldown": partial(whole, least=0, most=_DAY),
    "allow": _hours,
    "deny": _hours,
}
