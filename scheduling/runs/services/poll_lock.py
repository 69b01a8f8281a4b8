"""One question at a time to a cluster that may be slow to answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gridportal.database.row_lease import RowLease
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import traits

_lease = RowLease(Cluster, "polling")


@contextmanager
def poll_lock(cluster: str) -> Iterator[bool]:
    """Whether nobody else polls the cluster now: the next would only wait for the same answer and keep a worker busy.

    Always true where answers come at once, and for a cluster that was never reached.
    """
    if not traits(cluster).answers_slowly:
        yield True
        return
    rows = Cluster.objects.filter(name=cluster)
    with _lease.hold(rows) as mine:
        yield bool(mine) or not rows.exists()
