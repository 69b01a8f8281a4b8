"""Which input files are kept for whom, and which jobs need them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from scheduling.jobs.models import Job


class StoredInput(models.Model):
    """A file that a person has brought. It counts once for the person, with however many jobs."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of its content, under which it lies on the disk.")
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    used_at = models.DateTimeField(help_text="When it was last brought, or its last job went.")

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=["owner", "digest"], name="input_once_for_a_person")]
        indexes = [models.Index(fields=["digest"], name="input_digest")]

    def __str__(self) -> str:
        return f"{self.digest[:12]} of {self.owner}"


class JobInput(models.Model):
    """A job that needs a file."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="kept_inputs")
    stored = models.ForeignKey(StoredInput, models.RESTRICT, related_name="jobs")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "stored"], name="input_once_for_a_job")]

    def __str__(self) -> str:
        return f"{self.stored} for job {self.job_id}"
