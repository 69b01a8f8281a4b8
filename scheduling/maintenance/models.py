"""Times of maintenance, and announcements."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from monitoring.clusters.models import Cluster
from scheduling.jobs.core.units import listed
from scheduling.maintenance.core.planned_times import PlannedTime

LEVELS = [("note", "note"), ("warning", "warning")]


class MaintenanceWindow(models.Model):
    """From `start` up to `end` nodes of a cluster are worked on: no job is placed that could run into it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="maintenance")
    nodes = models.JSONField(default=list, blank=True, help_text="Names; empty: all nodes of the cluster.")
    start = models.DateTimeField()
    end = models.DateTimeField()
    why = models.CharField(max_length=200, blank=True, help_text="What people are told.")
    created_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("start", "pk")
        constraints = [models.CheckConstraint(condition=Q(end__gte=F("start")), name="maintenance_ends_after_start")]
        indexes = [models.Index(fields=["end"], name="maintenance_end")]

    def __str__(self) -> str:
        return f"maintenance {self.pk} of {self.cluster}"

    @property
    def planned(self) -> PlannedTime:
        """As the core takes it."""
        return PlannedTime(self.start, self.end, frozenset(self.nodes), self.why)

    @property
    def named_nodes(self) -> str:
        """The nodes as people list them; empty: all of the cluster."""
        return listed(self.nodes) if self.nodes else ""

    @property
    def phase(self) -> str:
        """planned, now or over."""
        now = timezone.now()
        return "planned" if now < self.start else "now" if now < self.end else "over"


class PageAnnouncement(models.Model):
    """A sentence on top of every page, from a moment on and up to another; without an end until somebody ends it."""

    text = models.CharField(max_length=500)
    level = models.CharField(max_length=10, choices=LEVELS, default="note")
    start = models.DateTimeField(default=timezone.now)
    end = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(condition=Q(end=None) | Q(end__gte=F("start")), name="announcement_ends_after_start")
        ]

    def __str__(self) -> str:
        return self.text[:80]
