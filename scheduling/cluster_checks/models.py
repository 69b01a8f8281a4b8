"""Checks of clusters that somebody asked for, with what they found."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models

from monitoring.clusters.models import Cluster
from scheduling.cluster_checks.core.check_step import CheckStep, StepResult, Verdict

#: A check that has not ended by then was lost with its worker.
LONGEST = timedelta(minutes=5)


class ClusterCheck(models.Model):
    """One check of one cluster. `results`: of the steps that were asked so far, as `StepResult.document` has them."""

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="checks", db_index=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    results = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("-pk",)
        indexes = [models.Index(fields=["cluster", "-id"], name="check_of_cluster")]

    def __str__(self) -> str:
        return f"check of {self.cluster}"

    def is_under_way(self, now: datetime) -> bool:
        """Whether more is to come."""
        return self.ended_at is None and now - self.asked_at < LONGEST

    @property
    def step_results(self) -> list[StepResult]:
        """The steps that were asked so far."""
        documents: list[Any] = self.results
        return [StepResult.read(each) for each in documents]

    @property
    def open_steps(self) -> list[CheckStep]:
        """Those that are still to be asked, in their order; the first is being asked."""
        return list(CheckStep)[len(self.results) :]

    @property
    def is_well(self) -> bool:
        """Whether nothing failed."""
        return all(each.verdict is not Verdict.FAILED for each in self.step_results)
