"""Where figures come from."""

from __future__ import annotations

from django.db import models

from monitoring.clusters.models import Cluster


class Source(models.Model):
    """Where a cluster's figures come from, and how that goes. `age`, `stale`, `partly` are set by the selector."""

    age: float | None
    stale: bool
    partly: bool

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=20, help_text="grid, slurm, agent, prometheus, probes, ...")
    polled_at = models.DateTimeField(null=True, blank=True, help_text="When it was last asked.")
    last_ok = models.DateTimeField(null=True, blank=True, help_text="When it last answered.")
    error = models.TextField(blank=True, help_text="Why it did not answer; empty when it did.")
    error_at = models.DateTimeField(null=True, blank=True)
    lag = models.FloatField(null=True, blank=True, help_text="Seconds that it lags, or that its clock differs.")
    samples = models.BigIntegerField(default=0, help_text="How many of its samples were ever kept.")
    cost_bytes = models.BigIntegerField(default=0, help_text="What asking cost the network the last time.")
    cost_seconds = models.FloatField(default=0.0, help_text="How long asking took the last time.")
    total_bytes = models.BigIntegerField(default=0)
    total_seconds = models.FloatField(default=0.0)
    polling_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a question under way.")
    polling_holder = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("cluster", "name")
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="source_name_once_per_cluster")]

    def __str__(self) -> str:
        return self.name
