"""What is known of a job's data over all its runs: the Runtime Support System of Migration 2003, 4.1, as rows.

The program keeps it in files of the job's folder, by itself or by SRS; the portal takes it over while it follows the
job, so that pages, contracts and the rescheduler read rows.
"""

from __future__ import annotations

from django.db import models

from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Job
from scheduling.runs.core.restart_file import FileHealth
from scheduling.runs.services.checkpoint_facts import Health

HEALTH = [(health.value, health.value) for health in Health]
FILE_HEALTH = [(health.value, health.value) for health in FileHealth]


class RuntimeSupport(models.Model):
    """Whether the job is asked to stop, and how its data lie now: one row for each job whose program can be stopped.

    `ranks` and `hosts`: the configuration of processors; `arrays`: name, dtype, shape and layout with its parameters;
    `bytes`: of all of them. Empty where the program has not said (`store_map`). It goes with the job.
    """

    job = models.OneToOneField(Job, models.CASCADE, related_name="runtime_support")
    stop_asked = models.BooleanField(default=False)
    ranks = models.PositiveIntegerField(null=True, blank=True)
    hosts = models.JSONField(default=list, blank=True)
    arrays = models.JSONField(default=list, blank=True)
    bytes = models.BigIntegerField(null=True, blank=True)
    folder_mark = models.CharField(max_length=64, blank=True, help_text="How the folder was when it was read last.")
    read_at = models.DateTimeField(null=True, blank=True)
    freed_at = models.DateTimeField(null=True, blank=True, help_text="When the job's folder was let go of.")

    def __str__(self) -> str:
        return f"runtime support of job {self.job_id}"


class Checkpoint(models.Model):
    """A checkpoint in the job's folder: where its data are, and how it is. It goes when the program lets go of it."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="checkpoints")
    number = models.PositiveBigIntegerField()
    written_at = models.DateTimeField(null=True, blank=True)
    ranks = models.PositiveIntegerField(null=True, blank=True)
    bytes = models.BigIntegerField(default=0)
    arrays = models.JSONField(default=list, blank=True)
    depots = models.JSONField(default=list, blank=True, help_text="Nodes that have shards; empty: the job's folder.")
    health = models.CharField(max_length=12, choices=HEALTH)
    problem = ReasonField(help_text="What is wrong with it.")

    class Meta:
        ordering = ("-number",)
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="checkpoint_number_once_per_job")]

    def __str__(self) -> str:
        return f"checkpoint {self.number} of job {self.job_id}"


class RestartFile(models.Model):
    """A file in the job's folder from which a program with a restart of its own may go on."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="restart_files")
    name = models.CharField(max_length=400, help_text="Its path below the folder.")
    bytes = models.BigIntegerField()
    written_at = models.DateTimeField()
    health = models.CharField(max_length=12, choices=FILE_HEALTH)

    class Meta:
        ordering = ("-written_at", "-name")

    def __str__(self) -> str:
        return f"{self.name} of job {self.job_id}"
