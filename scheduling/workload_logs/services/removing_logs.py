"""A log that was read is removed again, whole: its jobs, their sums in reports, and the people, groups and applications
that it brought, as far as nothing else uses them. A batch is a transaction: what was broken off goes on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import ProtectedError, QuerySet, RestrictedError
from django.utils import timezone

from gridportal.accounts.audit import Actor, Subject, audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Application, Job
from scheduling.runs.models import Run
from scheduling.runs.services.isolation import isolated
from scheduling.usage.services.counting_use import forget_cluster
from scheduling.workload_logs.models import LoggedCluster

BATCH = 1000
_Row = TypeVar("_Row", Application, Group)


@dataclass(slots=True)
class RemovedLog:
    """How many of each are gone."""

    jobs: int = 0
    people: int = 0
    groups: int = 0
    applications: int = 0


@transaction.atomic
def ask_removal(actor: Actor, name: str) -> LoggedCluster:
    """Note that a log is to be removed, and by whom. Raises InputError where no log has this name."""
    row = LoggedCluster.objects.select_for_update().filter(name=name).first()
    if row is None:
        names = ", ".join(LoggedCluster.objects.order_by("name").values_list("name", flat=True)) or "there is none"
        raise InputError("cluster", name, f"the name of a log that was read ({names})")
    if row.removing_at is None:
        row.removing_at = timezone.now()
        row.save(update_fields=["removing_at"])
        audit(actor, "workload.remove", Subject("cluster", name, name), jobs=log_jobs(name).count())
    return row


def remove_log(name: str) -> RemovedLog:
    """Remove a log that is noted as to be removed; what an earlier call began goes on."""
    found = RemovedLog()
    if not LoggedCluster.objects.filter(name=name, removing_at__isnull=False).exists():
        return found
    while numbers := list(log_jobs(name).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        _remove_jobs(numbers)
        found.jobs += len(numbers)
    with transaction.atomic():
        forget_cluster(name)
        found.applications = _remove_applications(name)
        found.people = _remove_people(name)
        found.groups = _remove_groups(name)
        LoggedCluster.objects.filter(name=name).delete()
        audit("portal", "workload.removed", Subject("cluster", name, name), **asdict(found))
    return found


def finish_removals() -> None:
    """Go on with removals that were broken off."""
    for name in LoggedCluster.objects.filter(removing_at__isnull=False).values_list("name", flat=True):
        isolated(f"removal of the log {name}", partial(remove_log, name))


def log_jobs(name: str) -> QuerySet[Job]:
    """The jobs of a log."""
    return Job.objects.filter(cluster=name, method="log")


@transaction.atomic
def _remove_jobs(numbers: list[int]) -> None:
    JobDependency.objects.filter(on__in=numbers).delete()
    Run.objects.filter(job__in=numbers).delete()
    Job.objects.filter(pk__in=numbers).delete()


def _remove_applications(name: str) -> int:
    rows = Application.objects.filter(slug__startswith=f"{name}-", jobs=None)
    return sum(
        _remove(row) for row in _named(rows, "slug", rf"{re.escape(name)}-(p\d+|program|others)") if row.is_of_log
    )


def _remove_people(name: str) -> int:
    """Those who never had a password, never came and have no jobs of their own."""
    rows = User.objects.filter(from_log=name, is_active=False, last_login=None, jobs=None)
    return sum(_remove(row) for row in rows if not row.has_usable_password())


def _remove_groups(name: str) -> int:
    rows = Group.objects.filter(name__startswith=f"{name}-g", user=None, permissions=None)
    return sum(_remove(row) for row in _named(rows, "name", rf"{re.escape(name)}-g\d+"))


def _named(rows: QuerySet[_Row], column: str, pattern: str) -> Iterable[_Row]:
    return [row for row in rows if re.fullmatch(pattern, getattr(row, column))]


def _remove(row: Application | User | Group) -> int:
    """1 for a row that is gone, 0 for one that something else uses."""
    try:
        with transaction.atomic():
            row.delete()
    except (ProtectedError, RestrictedError):
        return 0
    return 1
