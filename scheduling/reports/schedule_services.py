"""Reports at set times: made and changed by managers, stopped by whoever gets them, handed to the outbox when due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.base.held_row import hold
from gridportal.base.reasons import Code, Reason
from scheduling.notices.core.notice_kinds import Channel, NoticeKind
from scheduling.notices.models import Delivery, Notice
from scheduling.reports.core.report_times import ReportEvery, next_time, reported_time
from scheduling.reports.models import ReportSchedule
from scheduling.reports.report_tabs import TABS
from scheduling.runs.services.isolation import isolated

MOST_PEOPLE = 100


def save_schedule(
    actor: User, row: ReportSchedule | None, *, name: str, every: str, tabs: Sequence[str], people: Collection[str]
) -> ReportSchedule:
    """A new report at set times (None), or other values of one. Raises InputError that names the field,
    ConflictError where it was removed."""
    found = _people(people)
    if every not in list(ReportEvery):
        raise InputError("every", every, f"one of {', '.join(ReportEvery)}")
    if not tabs or any(tab not in TABS for tab in tabs):
        raise InputError("tabs", list(tabs), f"one or more of {', '.join(TABS)}")
    saved = row or ReportSchedule(owner=actor)
    if row is None or row.every != every:
        saved.next_at = next_time(ReportEvery(every), timezone.now())
    saved.name, saved.every, saved.tabs = name, every, [tab for tab in TABS if tab in tabs]
    try:
        with transaction.atomic():
            if row is not None:
                hold(row, "This report")
            saved.save()
            saved.people.set(found)
            facts = {"name": name, "every": every, "tabs": saved.tabs, "people": sorted(people)}
            audit(actor, "report.change_schedule" if row else "report.make_schedule", saved, **facts)
    except IntegrityError as error:
        raise InputError("name", name, "a name that no other report has") from error
    return saved


@transaction.atomic
def remove_schedule(actor: User, row: ReportSchedule) -> None:
    """Send it to nobody any more, and forget it."""
    audit(actor, "report.remove_schedule", row, name=row.name)
    row.delete()


@transaction.atomic
def stop_for(person: User, row: ReportSchedule) -> None:
    """Do not send it to this person any more."""
    row.people.remove(person)
    audit(person, "report.stop", row, name=row.name)


def send_due_reports() -> int:
    """Put each report that is due into the outbox of notices, once; to how many people."""
    due = ReportSchedule.objects.filter(next_at__lte=timezone.now()).values_list("pk", flat=True)
    return sum(isolated(f"report {pk}", partial(_send, pk)).value or 0 for pk in due)


@transaction.atomic
def _send(pk: int) -> int:
    row = ReportSchedule.objects.select_for_update().get(pk=pk)
    now, every = timezone.now(), ReportEvery(row.every)
    if row.next_at > now:  # another worker was faster
        return 0
    begin, until = reported_time(every, now)
    row.next_at, row.sent_at = next_time(every, now), now
    row.save(update_fields=["next_at", "sent_at"])
    reason = Reason.of(Code.REPORT_OF, begin=f"{begin:%Y-%m-%d}", until=f"{until:%Y-%m-%d}")
    people = list(row.people.filter(is_active=True).order_by("pk"))
    for person in people:
        notice = Notice.objects.create(person=person, kind=NoticeKind.REPORT, report=row, reason=reason)
        Delivery.objects.create(notice=notice, channel=Channel.EMAIL)
    return len(people)


def _people(names: Collection[str]) -> list[User]:
    if not 1 <= len(names) <= MOST_PEOPLE:
        raise InputError("people", f"{len(names)} names", f"1 to {MOST_PEOPLE} user names")
    found = {person.username: person for person in User.objects.filter(username__in=names, is_active=True)}
    for name in names:
        if name not in found:
            raise InputError("people", name, "names of people who have an account that is on")
    return list(found.values())
