"""Letting go of decisions by which no job was moved, once they are old: each round of weighing adds some."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from scheduling.rescheduling import selectors
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest

#: Rows that one statement takes: others write the same tables meanwhile.
_AT_ONCE = 500
#: Rows that one call takes at most; the next comes within the hour.
_MOST = 50_000


def forget_old() -> int:
    """Let go of old decisions by which a job stayed, with their steps, and of old requests that no decision is left of;
    how many of both. Those of jobs that are not over, and those by which a job was moved, stay."""
    before = timezone.now() - timedelta(days=settings.PORTAL.keep_decisions_days)
    count = 0
    for model, rows in (
        (MoveDecision, selectors.old_decisions(before)),
        (WeighingRequest, selectors.old_requests(before)),
    ):
        numbers = rows.order_by("pk").values_list("pk", flat=True)
        while count < _MOST and (some := list(numbers[:_AT_ONCE])):
            model.objects.filter(pk__in=some).delete()
            count += len(some)
    return count
