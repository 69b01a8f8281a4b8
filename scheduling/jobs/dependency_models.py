"""Which jobs start after which others."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from scheduling.jobs.models import Job


class JobDependency(models.Model):
    """`job` starts only after `on` has ended, or has succeeded. Written with the job, and never changed.

    A job can only name older ones, so that no circle of them can be.
    """

    job = models.ForeignKey(Job, models.CASCADE, related_name="dependencies")
    on = models.ForeignKey(Job, models.RESTRICT, related_name="followers")
    only_ok = models.BooleanField(default=False, help_text="It has to succeed; else it only has to end.")

    class Meta:
        ordering = ("on_id",)
        constraints = [
            models.UniqueConstraint(fields=["job", "on"], name="job_follows_another_once"),
            models.CheckConstraint(condition=Q(on__lt=F("job")), name="job_follows_older_ones"),
        ]

    def __str__(self) -> str:
        return f"job {self.job_id} after job {self.on_id}"
