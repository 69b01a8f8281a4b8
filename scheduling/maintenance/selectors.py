"""Reading what is planned."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from scheduling.maintenance.core.planned_times import kept_nodes
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement

#: So long before it begins every page tells of maintenance; so long after its end its page still does.
_TOLD_BEFORE, _LISTED_AFTER = timedelta(hours=24), timedelta(days=30)


def kept(cluster: str, nodes: Collection[str], now: datetime, seconds: float | None) -> dict[str, str]:
    """The nodes that a job which starts now and may take so many seconds cannot have, with the sentence. One query."""
    rows = MaintenanceWindow.objects.filter(cluster__name=cluster, end__gt=now)
    return kept_nodes([row.planned for row in rows], nodes, now, seconds)


def windows(now: datetime) -> QuerySet[MaintenanceWindow]:
    """Those under way, planned, and over not long ago, in the order of their start."""
    rows = MaintenanceWindow.objects.filter(end__gt=now - _LISTED_AFTER).select_related("cluster")
    return rows.order_by("start", "pk")


def overlapping(window: MaintenanceWindow) -> list[MaintenanceWindow]:
    """Others of the same cluster at the same time on one of the same nodes, in the order of their start. One query."""
    rows = MaintenanceWindow.objects.filter(cluster=window.cluster_id, start__lt=window.end, end__gt=window.start)
    others = rows.exclude(pk=window.pk).order_by("start", "pk")
    return [row for row in others if row.planned.shares_nodes(window.planned)]


def soon(now: datetime) -> QuerySet[MaintenanceWindow]:
    """Those that every page tells of: under way, or to begin within a day."""
    return windows(now).filter(end__gt=now, start__lte=now + _TOLD_BEFORE)


def announcements(now: datetime) -> QuerySet[PageAnnouncement]:
    """Those that are shown now, and those that will be."""
    return PageAnnouncement.objects.filter(Q(end=None) | Q(end__gt=now)).order_by("-pk")


def shown(now: datetime) -> QuerySet[PageAnnouncement]:
    """Those that every page shows now."""
    return announcements(now).filter(start__lte=now)
