"""One question at a time to a cluster that may be slow to answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import queues
from scheduling.jobs.services import leases


@contextmanager
def poll_lock(cluster: str) -> Iterator[bool]:
    """Whether nobody else polls the cluster now: the next would only wait for the same answer and keep a worker busy.

    Always true on an emulated Grid, and for a cluster that was never reached.
    """
    if not queues(cluster):
        yield True
        return
    now = timezone.now()
    lasting = timedelta(seconds=3 * settings.CLUSTERS[cluster].timeout)
    until = now + lasting
    rows = Cluster.objects.filter(name=cluster)
    mine = rows.filter(leases.over(now, "polling_until", lasting)).update(polling_until=until)
    if not mine and rows.exists():
        yield False
        return
    try:
        yield True
    finally:
        rows.filter(polling_until=until).update(polling_until=None)
