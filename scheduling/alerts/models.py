"""Rules of alerts, and what each of them found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from monitoring.clusters.models import Cluster
from scheduling.alerts.core.alert_states import ALERT_LIFE, AlertState
from scheduling.alerts.core.hysteresis import Levels


class AlertRule(models.Model):
    """What is watched, and from when on it is worth telling. Values in the units of its series."""

    name = models.CharField(max_length=80, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="alert_rules")
    metric = models.CharField(max_length=40)
    subject = models.CharField(max_length=200, blank=True, help_text="A node, n1>n2, ...; empty: all that have it.")
    above = models.BooleanField(default=True, help_text="Whether more than the level is bad; else less.")
    level = models.FloatField(help_text="Beyond it the rule fires.")
    clear = models.FloatField(help_text="At or behind it an alert ends.")
    hold = models.PositiveIntegerField(default=0, help_text="Seconds beyond the level before it fires.")
    enabled = models.BooleanField(default=True)
    muted_until = models.DateTimeField(null=True, blank=True, help_text="Until then nobody is told.")
    pending = models.JSONField(default=dict, blank=True, help_text="Since when subjects are beyond the level.")
    judged_at = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=Q(above=True, clear__lte=F("level")) | Q(above=False, clear__gte=F("level")),
                name="alert_clears_behind_its_level",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Its own page."""
        return reverse("alert-rule", args=[self.pk])

    @property
    def levels(self) -> Levels:
        """As the core takes it."""
        return Levels(self.level, self.clear, self.hold, self.above)

    @property
    def is_muted(self) -> bool:
        """Whether nobody is told now."""
        return self.muted_until is not None and self.muted_until > timezone.now()


class Alert(models.Model):
    """One time that a rule fired for one subject."""

    life: ClassVar[Lifecycle[AlertState]] = ALERT_LIFE

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="alerts")
    subject = models.CharField(max_length=200)
    state = models.CharField(
        max_length=10, choices=[(each.value, each.value) for each in AlertState], default=AlertState.FIRING
    )
    since = models.DateTimeField(help_text="From when on the value was beyond the level.")
    fired_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    value = models.FloatField(help_text="When it fired.")
    notified = models.BooleanField(default=False, help_text="Whether people were told that it fires.")

    class Meta:
        ordering = ("-pk",)
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject"], condition=Q(state=AlertState.FIRING.value), name="alert_fires_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in AlertState]), name="alert_state_known"
            ),
        ]
        indexes = [models.Index(fields=["-fired_at"], name="alert_newest")]

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}"

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides: it has only one, which ends it."""
        return {"ended_at": now}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> None:
        """Its row itself says what became of it."""
