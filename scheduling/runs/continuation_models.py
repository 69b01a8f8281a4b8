"""Continuations: each time that a job is stopped with a checkpoint and goes on elsewhere (Migration 2003, 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Job
from scheduling.runs.core.continuation_states import CONTINUATION_LIFE, OPEN_CONTINUATIONS, ContinuationState
from scheduling.runs.models import Run

STATES = [(state.value, state.value) for state in ContinuationState]
_OPEN = [state.value for state in OPEN_CONTINUATIONS]


class Continuation(models.Model):
    """One stop-and-continue of a job: what was asked, where it is, and what each phase took.

    `source` is the run that is stopped, `target` the one that goes on, `placement` where. `nodes` and `ranks` are what
    was asked for: empty nodes leave the choice to the portal. The seconds are those of Migration 2003, table I, in its
    order; a phase that the program does not tell of is empty.
    """

    life: ClassVar[Lifecycle[ContinuationState]] = CONTINUATION_LIFE

    job = models.ForeignKey(Job, models.CASCADE, related_name="continuations")
    source = models.ForeignKey(Run, models.CASCADE, related_name="left_by")
    target = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="made_by")
    placement = models.ForeignKey(
        "scheduling.Placement", models.SET_NULL, null=True, blank=True, related_name="continuations"
    )
    by = models.CharField(max_length=150, help_text="The name of who asked; “portal” where nobody did.")
    why = models.CharField(max_length=500, blank=True, help_text="In their own words.")
    nodes = models.JSONField(default=list, blank=True, help_text="Rank by rank, as asked for; empty: chosen.")
    ranks = models.PositiveIntegerField(help_text="On how many it goes on.")
    state = models.CharField(max_length=12, choices=STATES, default=ContinuationState.ASKED)
    state_since = models.DateTimeField(default=timezone.now)
    reason = ReasonField(help_text="Why it is where it is, or why it ended so.")
    back = models.BooleanField(default=False, help_text="It did not start there, and goes back to where it ran.")
    checkpoint = models.PositiveIntegerField(null=True, blank=True, help_text="Number of the one it goes on from.")
    asked_at = models.DateTimeField(default=timezone.now)
    stop_sent_at = models.DateTimeField(null=True, blank=True, help_text="When its program was asked to stop.")
    stopped_at = models.DateTimeField(null=True, blank=True)
    starting_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    writing = models.FloatField(null=True, blank=True)
    telemetry = models.FloatField(null=True, blank=True)
    information = models.FloatField(null=True, blank=True)
    schedule = models.FloatField(null=True, blank=True)
    other = models.FloatField(null=True, blank=True)
    start = models.FloatField(null=True, blank=True)
    reading = models.FloatField(null=True, blank=True)
    total = models.FloatField(null=True, blank=True, help_text="From the request until the program computed again.")
    paused = models.FloatField(null=True, blank=True, help_text="Of these, for how long it did not compute.")
    expected = models.JSONField(
        default=dict,
        blank=True,
        help_text="Seconds that each phase was expected to take; null: nobody knew; empty: nobody asked.",
    )
    announced_nodes = models.JSONField(
        default=list, blank=True, help_text="Where it was to go, as was told before it was asked for; empty: not told."
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Workers that were lost over this step.")
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_holder = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(fields=["job"], condition=Q(state__in=_OPEN), name="one_open_continuation_per_job"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in ContinuationState]), name="continuation_state_known"
            ),
        ]
        indexes = [models.Index(fields=["state"], name="continuation_state")]

    def __str__(self) -> str:
        return f"continuation {self.pk} of job {self.job_id}"

    @property
    def is_open(self) -> bool:
        """Whether it is under way."""
        return not CONTINUATION_LIFE.is_final(self.state)

    @property
    def may_go_back(self) -> bool:
        """Whether its program ran when the move was asked for: the nodes that it left are kept for it."""
        return self.stop_sent_at is not None

    @property
    def goes_elsewhere(self) -> bool:
        """Whether newer figures chose other nodes than were told before it was asked for."""
        return bool(
            self.announced_nodes and self.placement and sorted(self.placement.nodes) != sorted(self.announced_nodes)
        )

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides."""
        at = {"stopped": "stopped_at", "starting": "starting_at"}.get(to)
        over = {"ended_at": now} if CONTINUATION_LIFE.is_final(to) else {}
        return {"state_since": now, "attempts": 0, **over, **({at: now} if at else {})}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> None:
        """Its row itself says when it was where; what becomes of its job is told by the job's own events."""
