"""Runs: the attempts of a job."""

from __future__ import annotations

from django.db import models

from gridportal.base.run_directory import RunFileError
from gridportal.base.run_files import PROGRESS
from scheduling.jobs.core.states import JobState
from scheduling.jobs.job_fields import ProgramJSON, ReasonField
from scheduling.jobs.models import STATES, Job


class Run(models.Model):
    """One attempt of a job on one node set. `key` makes submission idempotent."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    number = models.PositiveSmallIntegerField(default=1)
    placement = models.OneToOneField("scheduling.Placement", on_delete=models.PROTECT, related_name="run")
    key = models.CharField(max_length=64, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    backend_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=12, choices=STATES, default=JobState.STARTING)
    reason = ReasonField()
    run_dir = models.CharField(max_length=400)
    script = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    verified = models.BooleanField(null=True, blank=True, help_text="The program's own check; empty: it has none.")
    seconds = models.FloatField(null=True, blank=True, help_text="As the program measured itself.")
    result = ProgramJSON(default=dict, blank=True)
    hosts = models.JSONField(default=list, blank=True, help_text="Host names printed by the ranks, in rank order.")
    expected_start = models.DateTimeField(null=True, blank=True, help_text="As the backend foresees it.")
    held = models.BooleanField(default=False, help_text="The backend waits for somebody to release it.")
    missed_at = models.DateTimeField(null=True, blank=True, help_text="Since when its backend does not know it.")
    restarts = models.PositiveIntegerField(default=0, help_text="How often it was seen put back into the queue.")
    put_back_at = models.DateTimeField(null=True, blank=True, help_text="When that was seen for the last time.")
    taken_back = models.BooleanField(default=False, help_text="The portal takes it back, to choose other nodes.")
    unread = models.JSONField(null=True, blank=True, help_text="Why it cannot be followed: file, fault, detail.")
    unread_since = models.DateTimeField(null=True, blank=True)
    progress_offset = models.BigIntegerField(default=0, help_text=f"Bytes of {PROGRESS} already read.")

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="run_number_once_per_job")]
        indexes = [
            models.Index(fields=["state"]),
            models.Index(fields=["-ended_at"], name="run_ended"),
            models.Index(fields=["job", "started_at", "ended_at"], name="run_times"),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of job {self.job_id}"

    @property
    def failure(self) -> RunFileError | None:
        """Why it cannot be followed, as it was noted."""
        return RunFileError.from_document(self.unread) if self.unread else None
