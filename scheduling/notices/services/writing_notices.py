"""Telling people: from what happened to one notice for each who wants to hear of it, and one delivery for each way.

The notices of a step and the end of its announcement are one transaction: who is killed in between has told nobody,
and the next worker tells everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Announcement, Application, JobEvent
from scheduling.notices import selectors
from scheduling.notices.core.notice_kinds import BY_STATE, Channel, JobChoice, NoticeKind
from scheduling.notices.models import Delivery, Notice
from scheduling.performance.core.failure_kinds import failure_kind
from scheduling.runs.services.isolation import isolated

_MOST = 200
#: For so long notices are kept, and so many of one person.
_KEPT, _MOST_KEPT = timedelta(days=60), 1000


def write_notices() -> int:
    """Tell people of what was announced; how many notices were written."""
    pks = list(Announcement.objects.order_by("pk").values_list("pk", flat=True)[:_MOST])
    return sum(isolated(f"announcement {pk}", partial(_write, pk)).value or 0 for pk in pks)


def tell_of_proposal(decision: Any) -> int:
    """Tell everybody who may decide that a move waits; to be called in the transaction that proposes it."""
    made = 0
    for person in selectors.deciders():
        fields = {"job": decision.job, "decision": decision}
        made += tell(person, NoticeKind.PROPOSED, selectors.choice_of(person, decision.job), **fields)
    return made


def tell_of_model(application: Application, model: str, error: str) -> int:
    """Tell the owner of a program that a performance model of it failed: once for each kind of failure, as long as the
    notice is kept. How many notices; nobody owns a program that is everybody's."""
    if application.owner is None or not application.owner.is_active:
        return 0
    with transaction.atomic():
        Application.objects.select_for_update().get(pk=application.pk)  # several runs may begin at once
        told = Notice.objects.filter(person=application.owner, kind=NoticeKind.MODEL, application=application)
        kinds = {(each.facts.get("model"), failure_kind(str(each.facts.get("error")))) for each in _reasons(told)}
        if (model, failure_kind(error)) in kinds:
            return 0
        why = Reason.of(Code.MODEL_FAILED, model=model, error=error)
        return tell(application.owner, NoticeKind.MODEL, application=application, reason=why)


def tell(person: User, kind: NoticeKind, choice: JobChoice = JobChoice.USUAL, **about: Any) -> int:
    """One notice and its deliveries, by the ways that the person wants; 1, or 0 where there is none."""
    ways = selectors.channels(person, kind, choice)
    if not ways:
        return 0
    notice = Notice.objects.create(person=person, kind=kind, on_page=Channel.PAGE in ways, **about)
    others = sorted(ways - {Channel.PAGE})
    Delivery.objects.bulk_create(Delivery(notice=notice, channel=channel) for channel in others)
    return 1


def forget_old() -> int:
    """Let go of notices that are old, and of those of people who have very many; how many rows."""
    count, _ = Notice.objects.filter(created_at__lt=timezone.now() - _KEPT).delete()
    for person in Notice.objects.order_by().values_list("person", flat=True).distinct():
        rows = Notice.objects.filter(person=person).order_by("-pk")
        oldest = rows.values_list("pk", flat=True)[_MOST_KEPT - 1 : _MOST_KEPT].first()
        if oldest is not None:
            count += rows.filter(pk__lt=oldest).delete()[0]
    return count


def _reasons(rows: QuerySet[Notice]) -> Iterator[Reason]:
    return rows.values_list("reason", flat=True).iterator()


@transaction.atomic
def _write(pk: int) -> int:
    event = JobEvent.objects.select_related("job__owner").filter(pk=pk).first()
    taken, _ = Announcement.objects.filter(pk=pk).delete()
    if not taken or event is None or not _is_worth_telling(event):
        return 0
    kind, job = BY_STATE[JobState(event.to_state)], event.job
    about = {"job": job, "event": event, "reason": _why(event)}
    # Who cancelled a job knows it.
    people = [(person, choice) for person, choice in selectors.listeners(job) if person.username != _by(event)]
    return sum(tell(person, kind, choice, **about) for person, choice in people)


def _why(event: JobEvent) -> Reason:
    """The reason of the step; of a job that ended well what is odd about how its ranks were started, if anything is."""
    if event.to_state == JobState.SUCCEEDED:
        last = event.job.runs.order_by("-number").only("start_reason").first()
        return (last and last.start_reason) or event.reason
    return event.reason


def _by(event: JobEvent) -> str:
    if event.to_state != JobState.CANCELLED:
        return ""
    return event.job.cancel_requested_by or event.actor


def _is_worth_telling(event: JobEvent) -> bool:
    """A job starts once: one that was moved, or put back into the queue, has started before."""
    if event.to_state != JobState.RUNNING:
        return True
    earlier = JobEvent.objects.filter(job=event.job_id, to_state=JobState.RUNNING, pk__lt=event.pk)
    return not earlier.exists()
