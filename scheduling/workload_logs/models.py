"""Clusters whose jobs were read from a log."""

from __future__ import annotations

from django.db import models
from django.urls import reverse


class LoggedCluster(models.Model):
    """A cluster that the portal knows from a log alone: how many nodes it has, so that reports know what was in use."""

    name = models.SlugField(max_length=60, unique=True)
    computer = models.CharField(max_length=100, blank=True, help_text="As the log calls it.")
    nodes = models.PositiveIntegerField(null=True, blank=True)
    processors = models.PositiveIntegerField(null=True, blank=True)
    start = models.DateTimeField(help_text="When the times of the log begin.")
    read_at = models.DateTimeField(auto_now=True)
    removing_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when it is being removed; empty: it stays."
    )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('workload-logs')}#log-{self.name}"
