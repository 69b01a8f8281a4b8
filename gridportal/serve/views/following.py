"""Whether runs can be followed: which clusters, which single runs, since when and why not."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from monitoring.clusters.models import Cluster
from scheduling.runs.core.run_states import OPEN
from scheduling.runs.models import Run

#: A poll that fails for less long may be a backend that is restarted.
_PATIENCE = timedelta(seconds=15)
_SHOWN = 5


def poll(row: Cluster) -> str:
    """Since when and why the runs of a cluster cannot be followed; empty when they can."""
    since = row.poll_failed_at
    if since is None or timezone.now() - since < _PATIENCE:
        return ""
    return f"Its runs cannot be followed since {since:%Y-%m-%d %H:%M:%S} UTC: {row.poll_error}"


def runs() -> dict[str, str]:
    """The runs that go on and cannot be followed, by the name of their job, with the reason; a few of them."""
    rows = Run.objects.filter(state__in=OPEN, unread_since__isnull=False)
    return {
        f"job {run.job_id}": f"Since {run.unread_since:%Y-%m-%d %H:%M:%S} UTC: {run.failure}"
        for run in rows.order_by("unread_since")[:_SHOWN]
    }
