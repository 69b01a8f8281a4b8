"""Runs: the attempts of a job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from gridportal.base.reasons import Code, Reason
from gridportal.base.run_directory import RunFileError
from gridportal.base.run_files import PROGRESS
from scheduling.jobs.core.states import JobState
from scheduling.jobs.job_fields import ProgramJSON, ReasonField
from scheduling.jobs.models import Job, JobEvent
from scheduling.runs.core.run_checks import is_verified
from scheduling.runs.core.run_states import OPEN, RUN_LIFE, RunState

STATES = [(state.value, state.value) for state in RunState]
#: Steps from and to these are told where the job does not go along.
_WITH_REASON = {RunState.HELD, RunState.MISSING}
_OPEN = [state.value for state in OPEN]


class Run(models.Model):
    """One attempt of a job on one node set. `key` makes submission idempotent."""

    life: ClassVar[Lifecycle[RunState]] = RUN_LIFE

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    number = models.PositiveSmallIntegerField(default=1)
    placement = models.OneToOneField("scheduling.Placement", on_delete=models.PROTECT, related_name="run")
    node_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="On how many nodes it is; empty: on as many as its job."
    )
    key = models.CharField(max_length=64, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    backend_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=12, choices=STATES, default=RunState.PREPARED)
    state_since = models.DateTimeField(default=timezone.now, help_text="When the portal saw it enter this state.")
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
    restarts = models.PositiveIntegerField(default=0, help_text="How often it was seen put back into the queue.")
    unread = models.JSONField(null=True, blank=True, help_text="Why it cannot be followed: file, fault, detail.")
    unread_since = models.DateTimeField(null=True, blank=True)
    trace_reason = ReasonField(help_text="Why it left no profile, or which of its traces it is of.")
    start_reason = ReasonField(help_text="What is odd about how its ranks were started.")
    goes_on_from = models.PositiveIntegerField(null=True, blank=True, help_text="Number of the checkpoint it reads.")
    goes_back = models.BooleanField(
        default=False,
        help_text="Should it fail before it has read its checkpoint, its job goes back to where it was.",
    )
    stopped = models.JSONField(null=True, blank=True, help_text="What its program said when it stopped.")
    begins_anew = models.BooleanField(
        default=False, help_text="It was to go on, but its program found nothing to go on from."
    )
    restored = models.JSONField(null=True, blank=True, help_text="What its program said when it had read its data.")
    progress_offset = models.BigIntegerField(default=0, help_text=f"Bytes of {PROGRESS} already read.")

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="run_number_once_per_job"),
            models.UniqueConstraint(fields=["job"], condition=Q(state__in=_OPEN), name="one_open_run_per_job"),
            models.CheckConstraint(condition=Q(state__in=[state.value for state in RunState]), name="run_state_known"),
        ]
        indexes = [
            models.Index(fields=["state"]),
            models.Index(fields=["-ended_at"], name="run_ended"),
            models.Index(fields=["job", "started_at", "ended_at"], name="run_times"),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of job {self.job_id}"

    @property
    def is_verified(self) -> bool | None:
        """Whether its result can be relied on; `verified` is what the program's own check said, whatever came then."""
        return is_verified(self.verified, self.state)

    @property
    def held(self) -> bool:
        """Whether its backend waits for somebody to release it."""
        return self.state == RunState.HELD

    @property
    def is_stopping(self) -> bool:
        """Whether its job was cancelled: true as well while it is missing."""
        return self.job.state == JobState.CANCELLING

    @property
    def is_recalled(self) -> bool:
        """Whether the portal takes it out of the queue, or has done so: true as well while it is missing."""
        return self.job.state == JobState.MOVING and self.started_at is None

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides."""
        return {"state_since": now, **({"ended_at": now, "expected_start": None} if RUN_LIFE.is_final(to) else {})}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> JobEvent | None:
        """What is told where the job does not go along: an event of the job, which stays in its state."""
        if _WITH_REASON.isdisjoint((before, to)):
            return None
        reason = Reason.of(Code.RUN_STEP, run=self.number, before=str(before), now=str(to))
        return self.job.step_event(
            self.job.state, self.job.state, {**facts, "run_number": self.number, "reason": reason}
        )

    @property
    def failure(self) -> RunFileError | None:
        """Why it cannot be followed, as it was noted."""
        return RunFileError.from_document(self.unread) if self.unread else None
