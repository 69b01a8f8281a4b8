"""What operators and administrators plan and announce. Each is in the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError, SeveralInputsError
from gridportal.base.moment_text import moment_text
from monitoring.clusters.models import Cluster
from scheduling.maintenance import selectors
from scheduling.maintenance.models import LEVELS, MaintenanceWindow, PageAnnouncement

#: So much may be planned and announced at once, and no maintenance is longer.
MOST, _LONGEST = 200, timedelta(days=366)
#: So long ago something may have begun, and so far ahead it may begin and end.
_BACK, _AHEAD = timedelta(days=366), timedelta(days=5 * 366)
#: So many nodes a sentence names.
_NAMED = 8


@transaction.atomic
def plan_maintenance(
    person: User, cluster: Cluster, nodes: Sequence[str], start: datetime, end: datetime, why: str = ""
) -> MaintenanceWindow:
    """A new time; `nodes` empty: all of the cluster. Raises InputError that names the field."""
    now = timezone.now()
    if MaintenanceWindow.objects.filter(end__gt=now).count() >= MOST:
        raise InputError("start", start.isoformat(), f"one of at most {MOST} planned times")
    if errors := [*_wrong_nodes(cluster, nodes), *_wrong_times(start, end, now, _LONGEST)]:
        raise SeveralInputsError(errors)
    Cluster.objects.select_for_update().get(pk=cluster.pk)  # of two who plan the same at once, the second is told
    names = list(dict.fromkeys(nodes))
    _refuse_twice(cluster, names, start, end)
    row = MaintenanceWindow.objects.create(
        cluster=cluster,
        nodes=names,
        start=start,
        end=end,
        why=_line("why", why, 200),
        created_by=person.username,
    )
    audit(person, "maintenance.plan", row, **_facts(row))
    return row


@transaction.atomic
def end_maintenance(person: User, pk: int) -> bool:
    """End what is under way now; remove what has not begun. What is over stays, and what is gone already is. Whether it
    had begun."""
    now = timezone.now()
    row = MaintenanceWindow.objects.select_for_update().filter(pk=pk).first()
    if row is None:
        return False
    audit(person, "maintenance.end", row, **_facts(row))
    if row.start > now:
        row.delete()
        return False
    if row.end > now:
        row.end = now
        row.save(update_fields=["end"])
    return True


@transaction.atomic
def announce_on_pages(
    person: User, text: str, level: str = "note", start: datetime | None = None, end: datetime | None = None
) -> PageAnnouncement:
    """Show a sentence on every page from `start` (None: now) to `end` (None: until somebody ends it)."""
    now = timezone.now()
    line = _line("text", text, 500)
    if not line:
        raise InputError("text", None, "a sentence of up to 500 characters")
    if level not in dict(LEVELS):
        raise InputError("level", level, "one of " + ", ".join(dict(LEVELS)))
    if selectors.announcements(now).count() >= MOST:
        raise InputError("text", line, f"one of at most {MOST} announcements; end one first")
    if errors := [*_wrong_times(start or now, end, now)]:
        raise SeveralInputsError(errors)
    row = PageAnnouncement.objects.create(
        text=line, level=level, start=start or now, end=end, created_by=person.username
    )
    audit(person, "announcement.make", row, level=level, start=row.start.isoformat(), end=end and end.isoformat())
    return row


@transaction.atomic
def end_announcement(person: User, pk: int) -> None:
    """Show it no more; nothing where it is gone already."""
    now = timezone.now()
    row = PageAnnouncement.objects.select_for_update().filter(pk=pk).first()
    if row is None:
        return
    audit(person, "announcement.end", row)
    if row.start > now:
        row.delete()
    elif row.end is None or row.end > now:
        row.end = now
        row.save(update_fields=["end"])


def _refuse_twice(cluster: Cluster, nodes: Sequence[str], start: datetime, end: datetime) -> None:
    for row in MaintenanceWindow.objects.filter(cluster=cluster, start=start, end=end):
        if set(row.nodes) == set(nodes):
            by = f" by {row.created_by}" if row.created_by else ""
            raise InputError("start", start.isoformat(), f"another time or other nodes: this is planned already{by}")


def _nodes_accepted(cluster: Cluster, known: Sequence[str]) -> str:
    if not known:
        return f"nothing, which means all nodes, until the nodes of {cluster} are known"
    named = one_of(known, _NAMED).removeprefix("one of ")
    return f"names of compute nodes of {cluster} ({named}), or nothing for all of them"


def _wrong_nodes(cluster: Cluster, nodes: Sequence[str]) -> Iterator[InputError]:
    known = set(cluster.nodes.filter(kind="compute").values_list("name", flat=True))
    wrong = [name for name in nodes if name not in known]
    if wrong:
        shown = ", ".join(wrong[:_NAMED])
        accepted = f"{_nodes_accepted(cluster, sorted(known))}; {cluster} has no {shown}"
        yield InputError("nodes", shown, accepted)


def _wrong_times(
    start: datetime, end: datetime | None, now: datetime, longest: timedelta | None = None
) -> Iterator[InputError]:
    if not now - _BACK <= start <= now + _AHEAD:
        yield InputError("start", start.isoformat(), _reach(now))
    if end is None:
        return
    if end > now + _AHEAD:
        yield InputError("end", end.isoformat(), _reach(now))
    elif end <= start:
        yield InputError("end", end.isoformat(), f"a time after {moment_text(start, now)}")
    elif end <= now:
        yield InputError("end", end.isoformat(), "a time in the future")
    elif longest is not None and end - start > longest:
        yield InputError("end", end.isoformat(), f"a time up to {longest.days} days after the start")


def _reach(now: datetime) -> str:
    first, last = ((now + shift).date().isoformat() for shift in (-_BACK, _AHEAD))
    return f"a time from {first} to {last}"


def _line(field: str, text: Any, most: int) -> str:
    line = str(text or "").strip()
    if len(line) > most or not line.isprintable():
        raise InputError(field, line, f"one line of up to {most} characters")
    return line


def _facts(row: MaintenanceWindow) -> Mapping[str, Any]:
    times = {"start": row.start.isoformat(), "end": row.end.isoformat()}
    return {"cluster": row.cluster.name, "nodes": row.nodes, **times, "why": row.why}
