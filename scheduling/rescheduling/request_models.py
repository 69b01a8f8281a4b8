"""Requests of people to weigh a move of a job, which the rescheduler answers with a decision."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Job
from scheduling.rescheduling.core.weighing_stage import WeighingStage
from scheduling.rescheduling.models import MoveDecision


class WeighingRequest(models.Model):
    """One request, of which a job has one open at most.

    `stage` with `done` of `total`: how far it is. Once it has ended, `decision` is what came of it; or the one that was
    open already, or none, with the `problem`.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="weighing_requests")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    stage = models.CharField(
        max_length=10, choices=[(each.value, each.value) for each in WeighingStage], default=WeighingStage.WAITING
    )
    done = models.PositiveSmallIntegerField(default=0)
    total = models.PositiveSmallIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)
    decision = models.ForeignKey(MoveDecision, models.SET_NULL, null=True, blank=True, related_name="requests")
    problem = ReasonField(help_text="Why it was not weighed.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker took it up.")
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_holder = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [
            models.UniqueConstraint(fields=["job"], condition=Q(ended_at=None), name="one_open_weighing_per_job")
        ]

    def __str__(self) -> str:
        return f"request to weigh a move of job {self.job_id}"

    def get_absolute_url(self) -> str:
        return reverse("weighing", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether it has no answer yet."""
        return self.ended_at is None

    @property
    def is_weighed(self) -> bool:
        """Whether all its steps are done; not where a stage failed, at which it stays."""
        return not self.is_open and not self.problem
