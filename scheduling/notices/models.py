"""Notices, their deliveries, and what people want to be told."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.notices.core.notice_kinds import (
    DELIVERY_LIFE,
    USUAL,
    Channel,
    DeliveryState,
    JobChoice,
    NoticeKind,
    WebhookFormat,
)


def _choices(kind: type[Any]) -> list[tuple[str, str]]:
    return [(each.value, each.value) for each in kind]


KINDS, STATES = _choices(NoticeKind), _choices(DeliveryState)
FORMATS, JOB_CHOICES = _choices(WebhookFormat), _choices(JobChoice)


def usual_kinds() -> list[str]:
    """What is on a person's page who has chosen nothing."""
    return [kind.value for kind in USUAL]


class NoticeSettings(models.Model):
    """What a person is told, by which ways: lists of kinds. Without a row the usual kinds are on the page alone."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_settings")
    page = models.JSONField(default=usual_kinds, blank=True)
    email = models.JSONField(default=list, blank=True)
    webhook = models.JSONField(default=list, blank=True)
    email_address = models.EmailField(blank=True, help_text="Empty: that of the account.")
    webhook_url = models.CharField(max_length=1000, blank=True)
    webhook_format = models.CharField(max_length=10, choices=FORMATS, default=WebhookFormat.JSON)

    def __str__(self) -> str:
        return f"notices of {self.person}"

    @property
    def mail_address(self) -> str:
        """Where e-mails go; empty: nowhere."""
        return self.email_address or self.person.email


class JobNotices(models.Model):
    """What one person wants to hear of one job."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="notice_choices")
    choice = models.CharField(max_length=10, choices=JOB_CHOICES)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "person"], name="one_notice_choice_per_job")]

    def __str__(self) -> str:
        return f"notices of job {self.job_id}"


class Notice(models.Model):
    """What one person is told of one event: a step of a job, or a move that is proposed.

    `application`: of whose performance model a notice is.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    kind = models.CharField(max_length=10, choices=KINDS)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    event = models.ForeignKey(JobEvent, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    decision = models.ForeignKey(
        "scheduling.MoveDecision", on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    alert = models.ForeignKey("scheduling.Alert", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    project = models.ForeignKey("scheduling.Project", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    report = models.ForeignKey(
        "scheduling.ReportSchedule", on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    reason = ReasonField(help_text="Why, as the step says.")
    on_page = models.BooleanField(default=True, help_text="Whether the person's page shows it.")
    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="The same at every attempt to send it.")
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [
            models.UniqueConstraint(fields=["event", "person"], name="told_once_of_an_event"),
            models.UniqueConstraint(fields=["decision", "person"], name="told_once_of_a_decision"),
        ]
        indexes = [
            models.Index(fields=["person", "-id"], name="notice_newest"),
            models.Index(fields=["person"], name="notice_unread", condition=Q(read_at=None, on_page=True)),
        ]

    def __str__(self) -> str:
        return f"notice {self.pk}"


class Delivery(models.Model):
    """One notice on one way other than the page: tried until it is sent or given up."""

    life: ClassVar[Lifecycle[DeliveryState]] = DELIVERY_LIFE

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=10, choices=_choices(Channel))
    state = models.CharField(max_length=10, choices=STATES, default=DeliveryState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now, help_text="When it is tried next.")
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, help_text="Why the last attempt failed.")
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_holder = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice", "channel"], name="one_delivery_per_way"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in DeliveryState]), name="delivery_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], name="delivery_due", condition=Q(state=DeliveryState.PENDING.value))
        ]

    def __str__(self) -> str:
        return f"{self.channel} of notice {self.notice_id}"

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides: both ends free the lease."""
        return {"lease_until": None, "lease_holder": ""}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> None:
        """Its row itself says what became of it."""
