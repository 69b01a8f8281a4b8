"""Resource requests that were sent, and the steps of each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.job_fields import ReasonField
from scheduling.matching.core.answer_documents import read_answer
from scheduling.matching.core.answers import MatchAnswer
from scheduling.resource_requests.core.match_states import MATCH_LIFE, MatchState

STATES = [(state.value, state.value) for state in MatchState]


class MatchRequest(models.Model):
    """A request as it was sent, and its answer.

    lifetime: seconds for which it waits; None: it was answered at once. tried_at, tries: the last attempt and how many
    there were; unmatched_on: the pool in which the last one found nothing, as one word. answer: what the last attempt
    came to, with its explanation.
    """

    life: ClassVar[Lifecycle[MatchState]] = MATCH_LIFE

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="match_requests")
    name = models.CharField(max_length=80, blank=True)
    cluster = models.SlugField(max_length=60)
    text = models.TextField(help_text="One ClassAd.")
    forecast = models.BooleanField(default=False, help_text="By forecasts in place of the last measurements.")
    lifetime = models.PositiveIntegerField(null=True, blank=True, help_text="Seconds; empty: answered at once.")
    state = models.CharField(max_length=10, choices=STATES, default=MatchState.WAITING)
    reason = ReasonField(help_text="Why it failed.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)
    unmatched_on = models.CharField(max_length=64, blank=True)
    answer = models.JSONField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_holder = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in MatchState]), name="match_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-id"], name="match_state"),
            models.Index(fields=["owner", "-id"], name="match_owner"),
        ]

    def __str__(self) -> str:
        return f"request {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("match-request", args=[self.pk])

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.life.is_final(self.state)

    @property
    def match_answer(self) -> MatchAnswer | None:
        """What the last attempt came to."""
        return read_answer(self.answer)

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides: nobody has leased a request that is over."""
        return {"ended_at": now, "lease_until": None, "lease_holder": ""}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> MatchEvent:
        """The event of a step, not written yet."""
        return MatchEvent(request_id=self.pk, from_state=before, to_state=to, **facts)


class MatchEvent(models.Model):
    """One step of a request's life. Only ever added."""

    request = models.ForeignKey(MatchRequest, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    from_state = models.CharField(max_length=10, blank=True)
    to_state = models.CharField(max_length=10, choices=STATES)
    actor = models.CharField(max_length=150, default="portal")
    reason = ReasonField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.from_state or 'new'} to {self.to_state}"
