"""Experiments of the papers that operators start, or that somebody ran from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from gridportal.base.lifecycle import Lifecycle
from gridportal.base.reasons import NOTHING
from gridportal.experiments.plan import MAX_NAME, Plan
from gridportal.experiments.states import AT_WORK, LIFE, OPEN, OVER, ExperimentState
from scheduling.jobs.job_fields import ReasonField

STATES = [(state.value, state.value) for state in ExperimentState]


class Experiment(models.Model):
    """One experiment and its folder; what it found is in the folder, its summary here too.

    The machine that runs it leases it (`running_until`, `running_holder`): where that falls silent another may go on.
    `started_by` is None for what was started from the command line.
    """

    life: ClassVar[Lifecycle[ExperimentState]] = LIFE

    name = models.CharField(max_length=40)
    seed = models.PositiveIntegerField(default=1)
    full = models.BooleanField(default=False)
    foreign = models.BooleanField(default=False, help_text="With programs that are not the project's own.")
    only = models.CharField(max_length=MAX_NAME, blank=True, help_text="The single program that it has.")
    folder = models.CharField(max_length=400, unique=True)
    state = models.CharField(max_length=10, choices=STATES, default=ExperimentState.QUEUED)
    reason = ReasonField(help_text="Why it ended: code and facts.")
    done = models.PositiveIntegerField(default=0)
    of = models.PositiveIntegerField(default=0)
    now = models.CharField(max_length=200, blank=True, help_text="The trial that it is at.")
    running_until = models.DateTimeField(null=True, blank=True, help_text="Lease of the machine that runs it.")
    running_holder = models.CharField(max_length=200, blank=True)
    restarts = models.PositiveSmallIntegerField(default=0, help_text="How often it was taken up after it had died.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)

    class Meta:
        db_table = "scheduling_experiment"  # where its rows were made, before experiments were an app of their own
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in ExperimentState]), name="experiment_state_known"
            ),
        ]

    def __str__(self) -> str:
        """For people; `plan` is the same for programs."""
        options = ["foreign"] * self.foreign + [f"only {self.only}"] * bool(self.only) + ["full"] * self.full
        return ", ".join([self.name, f"seed {self.seed}", *options])

    def get_absolute_url(self) -> str:
        return reverse("experiment", args=[self.pk])

    @property
    def plan(self) -> Plan:
        """What was asked for."""
        return Plan(self.name, self.seed, self.full, self.foreign, self.only)

    @property
    def is_open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in OPEN

    def step_columns(self, to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides."""
        changes: dict[str, Any] = {} if to in AT_WORK else {"running_until": None, "running_holder": ""}
        if to in OVER:
            return changes | {"ended_at": now, "now": ""}
        if to == ExperimentState.RUNNING:
            changes["started_at"] = self.started_at or now
        return changes | {"ended_at": None, "reason": NOTHING}

    @staticmethod
    def step_event(before: str, to: str, facts: Mapping[str, Any]) -> None:
        """None: what people asked for is in the audit trail."""
