"""Skeletons of applications, and their runs on the candidate groups of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.job_fields import ReasonField
from scheduling.skeletons.core.skeleton_run_states import SKELETON_LIFE, SkeletonState
from scheduling.skeletons.core.trial_budget import Cause
from scheduling.skeletons.prediction_field import BestPredictionField

OPEN = tuple(state for state in SkeletonState if not SKELETON_LIFE.is_final(state))
_STATES = [(state.value, state.value) for state in SkeletonState]


class Skeleton(models.Model):
    """The short program that stands for an application with these parameters on so many ranks.

    `program` is the digest of how the application was started when its trace was made: once that has changed the
    skeleton is stale. Without a document, `problem` says why there can be none. `stale` is set by the page
    that shows it.
    """

    stale: bool

    application = models.ForeignKey("scheduling.Application", on_delete=models.CASCADE, related_name="skeletons")
    profile = models.ForeignKey("scheduling.Profile", on_delete=models.CASCADE, related_name="skeletons")
    parameters = models.JSONField(default=dict, blank=True)
    parameters_key = models.CharField(max_length=16)
    ranks = models.PositiveIntegerField()
    program = models.CharField(max_length=16)
    document = models.JSONField(null=True, help_text="As scheduling.skeletons.core.skeleton.document writes it.")
    problem = ReasonField()
    player = ReasonField(help_text="Who plays it, as it was built; runs say it anew.")
    target = models.FloatField(null=True, help_text="Seconds that it was to take.")
    expected = models.FloatField(null=True, help_text="Seconds that it takes where the trace was made.")
    seconds = models.FloatField(null=True, help_text="Seconds that the application took there.")
    rate = models.FloatField(null=True, help_text="Units of work for each cpu second.")
    reference = BestPredictionField(
        null=True, blank=True, help_text="The best that it has predicted: predicted, seconds, nodes, cluster, at."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        indexes = [models.Index(fields=["application", "ranks", "-id"], name="skeleton_newest")]

    def __str__(self) -> str:
        return f"skeleton {self.pk} on {self.ranks} ranks"


class SkeletonRun(models.Model):
    """A skeleton on one candidate group of a placement. `key` makes its submission idempotent."""

    life: ClassVar[Lifecycle[SkeletonState]] = SKELETON_LIFE

    job = models.ForeignKey("scheduling.Job", on_delete=models.CASCADE, related_name="skeleton_runs")
    placement = models.ForeignKey("scheduling.Placement", on_delete=models.CASCADE, related_name="skeleton_runs")
    skeleton = models.ForeignKey(Skeleton, null=True, on_delete=models.SET_NULL, related_name="runs")
    candidate = models.PositiveSmallIntegerField(help_text="Its group's place in what the selection chose.")
    nodes = models.JSONField()
    node_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many these are; empty: as many as its job has."
    )
    key = models.CharField(max_length=64, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    backend_id = models.CharField(max_length=64, blank=True)
    run_dir = models.CharField(max_length=400)
    script = models.TextField()
    player = ReasonField(help_text="Who plays it.")
    state = models.CharField(max_length=10, choices=_STATES, default=SkeletonState.PLANNED)
    state_since = models.DateTimeField(default=timezone.now, help_text="When the portal saw it enter this state.")
    reason = ReasonField()
    cause = models.CharField(
        max_length=10,
        blank=True,
        choices=[(one.value, one.value) for one in Cause],
        help_text="Why it did not run to its end; empty where it did, and for runs before this was kept.",
    )
    allowed = models.FloatField(null=True, blank=True, help_text="Seconds that it may take, with start and end.")
    seconds = models.FloatField(null=True, blank=True, help_text="Of the skeleton, by its own clock.")
    predicted = models.FloatField(null=True, blank=True, help_text="Seconds that the application would take there.")
    created_at = models.DateTimeField(auto_now_add=True)
    handed_at = models.DateTimeField(null=True, blank=True, help_text="When it was first handed to the backend.")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("placement", "candidate")
        constraints = [
            models.UniqueConstraint(fields=["placement", "candidate"], name="skeleton_once_per_candidate"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in SkeletonState]), name="skeleton_run_state_known"
            ),
        ]
        indexes = [models.Index(fields=["job"], name="skeleton_run_open", condition=Q(state__in=list(OPEN)))]

    def __str__(self) -> str:
        return f"skeleton of job {self.job_id} on {' '.join(dict.fromkeys(self.nodes))}"

    @property
    def is_open(self) -> bool:
        """Whether it may still use its nodes."""
        return not SKELETON_LIFE.is_final(self.state)

    @property
    def is_stopping(self) -> bool:
        """Whether it need not go on: true as well while it is missing."""
        return self.state == SkeletonState.STOPPING or (self.state == SkeletonState.MISSING and bool(self.cause))

    @property
    def is_recalled(self) -> bool:
        """Never: its time is too short to choose other nodes."""
        return False

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides."""
        return {"state_since": now, **({"ended_at": now} if SKELETON_LIFE.is_final(to) else {})}

    @staticmethod
    def step_event(before: str, to: str, facts: Mapping[str, Any]) -> None:
        """Nobody is told of it."""
