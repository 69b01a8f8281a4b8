"""Checks of clusters: asked for by a person, done by a worker, step by step, so that a page can follow."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import Subject, audit
from gridportal.accounts.models import User
from gridportal.base.errors import BackendError, ConflictError
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import setting
from scheduling.cluster_checks.cluster_questions import ask
from scheduling.cluster_checks.core.check_step import CheckStep, failed
from scheduling.cluster_checks.models import ClusterCheck
from scheduling.runs.services.backends import cluster_setting

KEPT = 20  # checks of each cluster


@transaction.atomic
def ask_for_check(actor: User, name: str) -> ClusterCheck:
    """Note that a cluster is to be checked. Raises InputError for one that is not set up, ConflictError while a check
    of it is under way."""
    configured = setting(name)
    row, _ = Cluster.objects.get_or_create(name=name, defaults={"backend": configured.backend})
    row = Cluster.objects.select_for_update().get(pk=row.pk)
    now = timezone.now()
    newest = row.checks.first()
    if newest and newest.is_under_way(now):
        raise ConflictError(f"A check of {name} is under way; its results come in on this page.")
    check = ClusterCheck.objects.create(cluster=row, asked_by=actor, asked_at=now)
    old = list(row.checks.values_list("pk", flat=True)[KEPT:])
    row.checks.filter(pk__in=old).delete()
    audit(actor, "cluster.check", Subject("cluster", name, name))
    return check


def run_check(pk: int) -> None:
    """Put all questions, and write each answer down at once. Does nothing to a check that was begun before."""
    begun = ClusterCheck.objects.filter(pk=pk, started_at=None).update(started_at=timezone.now())
    check = ClusterCheck.objects.select_related("cluster").filter(pk=pk).first()
    if not begun or check is None:
        return
    for step in CheckStep:
        check.results = [*check.results, _result(step, check.cluster.name)]
        check.save(update_fields=["results"])
    check.ended_at = timezone.now()
    check.save(update_fields=["ended_at"])


def _result(step: CheckStep, name: str) -> dict[str, object]:
    try:
        return ask(step, cluster_setting(name)).document()
    except BackendError as error:  # it is set up no more
        return failed(step, error=str(error)).document()
