"""Reading how the sources of figures do."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils import timezone

from monitoring.history.selectors.series import live
from monitoring.telemetry.models import Source

#: After so many questions without an answer a source counts as silent, and a figure as old.
MISSED = 3


def agents_heard(cluster_name: str, nodes: Sequence[str]) -> dict[str, float]:
    """When the agents of `nodes` last answered, Unix seconds: every answer tells how far its clock is off."""
    found = live(cluster_name)
    offsets = ((node, found.get((node, "clock_offset"))) for node in nodes)
    return {node: one.at for node, one in offsets if one is not None}


def sources(cluster_name: str) -> list[Source]:
    """The sources of a cluster by name, each with `age` (seconds since it last answered; None: never), `stale`:
    it failed, or missed three polls, and `partly`: it did answer when it was last asked, and told of trouble."""
    now, every = timezone.now(), settings.PORTAL.collect_every
    rows = list(Source.objects.filter(cluster__name=cluster_name).order_by("name"))
    for row in rows:
        row.age = (now - row.last_ok).total_seconds() if row.last_ok else None
        row.stale = bool(row.error) or row.age is None or row.age > MISSED * every
        asked = row.polled_at or now
        row.partly = bool(row.error and row.last_ok and (asked - row.last_ok).total_seconds() < every / 2)
    return rows
