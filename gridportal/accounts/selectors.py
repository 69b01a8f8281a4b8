"""Reads over people and the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from gridportal.accounts import ldap_sign_in, oidc
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.second_factors import FACTORS
from gridportal.base.time_presets import PRESETS
from gridportal.web.csv_stream import plain_cell
from gridportal.web.paging import LongList, distinct
from gridportal.web.sorting import ColumnSort, SortedList, by_column

CSV_HEAD = ("at", "actor", "action", "object type", "object id", "object", "detail", "request id", "address")

#: By what the list of people is sorted.
PEOPLE_SORTS = {
    "name": by_column("username"),
    "state": ColumnSort(("is_active", "from_log"), lambda is_active, log: (not is_active, bool(log))),
    "email": by_column("email"),
    "factor": ColumnSort(("has_second_factor",), lambda has_one: not has_one),
    "tokens": by_column("token_count"),
    "last": by_column("last_login"),
    "joined": by_column("date_joined"),
}
#: The sorts of a short audit trail; that by time has an index.
AUDIT_SORTS = {"who": by_column("actor_name")}


def audit_events(filters: Mapping[str, Any]) -> QuerySet[AuditEvent]:
    """The trail, newest first, by actor, action, object (`job:12` or part of its words), last (a name of PRESETS),
    since and until."""
    events = AuditEvent.objects.all()
    if actor := filters.get("actor"):
        names = [name for name in distinct(AuditEvent, "actor_name") if actor.casefold() in name.casefold()]
        events = events.filter(actor_name__in=names)
    if action := filters.get("action"):
        events = events.filter(action__in=[each for each in audit_actions() if each.startswith(action)])
    if about := filters.get("object"):
        kind, _, key = about.partition(":")
        exact = Q(object_type=kind, object_id=key) if key else Q(object_type=about)
        events = events.filter(exact | Q(object_label__icontains=about))
    if last := filters.get("last"):
        events = events.filter(at__gte=timezone.now() - PRESETS[last][1])
    if since := filters.get("since"):
        events = events.filter(at__gte=since)
    if until := filters.get("until"):
        events = events.filter(at__lte=until)
    return events


def audit_list(filters: Mapping[str, Any], sort: str) -> SortedList[AuditEvent]:
    """The trail as `sort` says: by `when` or `who`; the newest first unless it says otherwise."""
    events = audit_events(filters)
    return SortedList(events.order_by("at", "id") if sort == "when" else events, sort, AUDIT_SORTS)


def people(text: str = "", *, with_logs: bool = True) -> QuerySet[User]:
    """People by name, who is switched off behind the others; those with `text` in name or e-mail. Without `with_logs`
    those are left out whom only a log of jobs names.

    Each has `token_count` and `has_second_factor`.
    """
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
    rows = User.objects.prefetch_related("groups__given", "socialaccount_set")
    rows = rows.annotate(token_count=Count("tokens", distinct=True), has_second_factor=Exists(factors))
    rows = rows.order_by("-is_active", "username")
    rows = rows if with_logs else rows.filter(from_log="")
    return rows.filter(Q(username__icontains=text) | Q(email__icontains=text)) if text else rows


def identities_of(person: User) -> list[tuple[int, str, str]]:
    """Where else this person has an account that signs in here: its number here, the provider's name, its own name."""
    names = {oidc.provider_key(): settings.PORTAL.oidc_name, ldap_sign_in.provider_key(): "LDAP"}
    rows = SocialAccount.objects.filter(user=person).order_by("date_joined")
    return [(row.pk, names.get(row.provider, row.provider), str(row.extra_data.get("username", ""))) for row in rows]


def groups_of(user: User) -> tuple[str, ...]:
    """The role and the groups of a person, which policies of resources may ask for."""
    return tuple(sorted({user.role, *user.groups.values_list("name", flat=True)}))


def audit_actions() -> list[str]:
    """The actions that occur, for the filter's suggestions."""
    return distinct(AuditEvent, "action")


def audit_rows(events: LongList[AuditEvent]) -> Iterator[tuple[object, ...]]:
    """The rows of the CSV file, below CSV_HEAD."""
    for event in events:
        row = (
            event.at.isoformat(timespec="seconds"),
            event.actor_name,
            event.action,
            event.object_type,
            event.object_id,
            event.object_label,
            "; ".join(f"{key}={value}" for key, value in event.detail.items()),
            event.request_id,
            event.address or "",
        )
        yield tuple(plain_cell(cell) for cell in row)
