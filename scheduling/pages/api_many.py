"""Many jobs at once over REST: cancel or resubmit each of some, and what became of each."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.accounts.models import User
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.pages.chosen_jobs import Deed, chosen_jobs
from scheduling.pages.idempotency import IDEMPOTENCY_KEY, idempotency_key
from scheduling.pages.many_serializers import ManyOutcomeSerializer, ManySerializer
from scheduling.placing.services.many_jobs import Cancellations, cancel_jobs
from scheduling.placing.services.many_resubmissions import resubmit_jobs, use_key_once

Rows = list[dict[str, Any]]


class ManyActions(viewsets.GenericViewSet[Job]):
    """What the view set of jobs has for it."""

    @extend_schema(request=ManySerializer, responses=ManyOutcomeSerializer(many=True), parameters=[IDEMPOTENCY_KEY])
    @action(detail=False, methods=["post"], pagination_class=None)
    def many(self, request: Request) -> Response:
        """Cancel or resubmit up to 200 jobs, each by its own permission and state; what became of each, by number.

        The same request_key, or the same header, twice makes the jobs of a resubmission once; with other jobs it is
        refused.
        """
        asked = ManySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        person, given = caller(request), asked.validated_data
        numbers = sorted(set(given["jobs"]))
        jobs = list(self.get_queryset().filter(pk__in=numbers).order_by("pk"))
        if given["do"] == Deed.CANCEL:
            rows = _cancelled(person, jobs)
        elif person.has_perm("scheduling.submit_job"):
            sent = given.get("request_key")
            key = idempotency_key(request, sent) or sent
            if key:
                use_key_once(person, key, numbers)
            rows = _resubmitted(person, jobs, key or uuid.uuid4())
        else:
            raise PermissionDenied("Your role reads but does not submit jobs.")
        known = {row["job"] for row in rows}
        rows += [_row(number, "unknown", "There is no such job for you.") for number in numbers if number not in known]
        return Response(ManyOutcomeSerializer(sorted(rows, key=lambda row: row["job"]), many=True).data)


#: What is said of a job beside what became of it.
_WHY = {
    "cancelled": "",
    "stopping": "",
    "over": "Job {} is over already.",
    "forbidden": "Job {} belongs to another person; only its owner or an operator may cancel it.",
}


def _cancelled(person: User, jobs: Sequence[Job]) -> Rows:
    outcome: Cancellations = cancel_jobs(person, jobs)
    for number in outcome.stopping:
        tasks.cancel_run.delay_on_commit(number)
    words = {
        "cancelled": outcome.cancelled,
        "stopping": outcome.stopping,
        "over": outcome.over,
        "forbidden": outcome.forbidden,
    }
    rows = [_row(number, word, _WHY[word].format(number)) for word, numbers in words.items() for number in numbers]
    return rows + [_row(number, "refused", why) for number, why in outcome.refused.items()]


def _resubmitted(person: User, jobs: Sequence[Job], key: uuid.UUID) -> Rows:
    chosen = chosen_jobs(person, Deed.RESUBMIT, jobs)
    outcome = resubmit_jobs(person, chosen.able, key)
    for job in {made.cluster: made for made in outcome.made.values()}.values():  # one placed means all are
        tasks.place_soon(job)
    rows = [_row(job.pk, "refused", f"Job {job.pk} {why}.") for job, why in chosen.unable]
    rows += [_row(number, "refused", why) for number, why in outcome.refused.items()]
    return rows + [_row(number, "submitted", "", made.pk) for number, made in outcome.made.items()]


def _row(number: int, outcome: str, detail: str, made: int | None = None) -> dict[str, Any]:
    return {"job": number, "outcome": outcome, "detail": detail, "new_job": made}
