"""Failed sign-ins slow down whoever makes them; the audit trail is the memory, so no server is needed."""

from __future__ import annotations

import hashlib
import math
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from gridportal.accounts.audit import Subject, audit
from gridportal.accounts.models import AuditEvent, User
from gridportal.web.middleware import address_of

WINDOW = timedelta(minutes=15)
PER_PERSON = 5
PER_ADDRESS = 50
CODES_PER_PERSON = 10  # wrong codes of a second factor, from wherever they come: who guesses them knows the password
CODES_WINDOW = timedelta(hours=1)
REFUSED = "person.sign_in_refused"
FAILED = ("person.sign_in_failed", "person.second_factor_failed")
SUBJECT = "sign-in"
NOBODY = "unknown person"


def minutes_to_wait(username: str, request: HttpRequest) -> int:
    """0 when a sign-in may be tried; else the minutes until it may: 5 failures per person and address in 15 min."""
    now = timezone.now()
    mine = AuditEvent.objects.filter(object_type=SUBJECT, object_id=_key(username, request), at__gt=now - WINDOW)
    last_success = mine.filter(action="person.sign_in").values_list("at", flat=True).first()
    failures = mine.filter(action__in=FAILED)
    if last_success:
        failures = failures.filter(at__gt=last_success)
    from_here = AuditEvent.objects.filter(at__gt=now - WINDOW, action__in=FAILED, address=address_of(request) or None)
    return max(_wait(failures, PER_PERSON, now), _wait(from_here, PER_ADDRESS, now))


def minutes_to_wait_with_code(person: User, request: HttpRequest) -> int:
    """The same for the code of a second factor, of which a person may have typed ten wrong ones in an hour."""
    now = timezone.now()
    codes = AuditEvent.objects.filter(actor=person, action="person.second_factor_failed", at__gt=now - CODES_WINDOW)
    return max(_wait(codes, CODES_PER_PERSON, now, CODES_WINDOW), minutes_to_wait(person.username, request))


def record_failure(username: str, request: HttpRequest) -> None:
    """Note a failed sign-in. A name that nobody has is not kept: people type passwords into the wrong field."""
    user = User.objects.filter(username=username).first()
    audit(user or NOBODY, "person.sign_in_failed", _subject(username, user, request), request=request)


def record_wrong_code(person: User, request: HttpRequest) -> None:
    """Note a wrong code of a second factor."""
    audit(person, "person.second_factor_failed", _subject(person.username, person, request), request=request)


def record_refusal(person: User | None, provider: str, reason: str, request: HttpRequest) -> None:
    """Note that somebody whom a provider knows was not let in, and why; of strangers from one address only the first 50
    in 15 minutes, for anybody can come with a made-up answer of the provider."""
    if person is None and _strangers_refused(request) >= PER_ADDRESS:
        return
    audit(person or NOBODY, REFUSED, person, request=request, provider=provider, reason=reason)


def record_success(person: User, request: HttpRequest, *, way: str, factor: str | None = None) -> None:
    """Note a sign-in, how, and by which second factor; failures before it no longer count."""
    about = {"way": str(way)} | ({"second_factor": str(factor)} if factor else {})
    audit(person, "person.sign_in", _subject(person.username, person, request), request=request, **about)


def _strangers_refused(request: HttpRequest) -> int:
    rows = AuditEvent.objects.filter(
        action=REFUSED, actor=None, address=address_of(request) or None, at__gt=timezone.now() - WINDOW
    )
    return len(rows.values_list("pk")[:PER_ADDRESS])


def _subject(username: str, user: User | None, request: HttpRequest) -> Subject:
    return Subject(SUBJECT, _key(username, request), user.username if user else NOBODY)


def _wait(failures: QuerySet[AuditEvent], limit: int, now: datetime, window: timedelta = WINDOW) -> int:
    times = list(failures.values_list("at", flat=True)[:limit])
    if len(times) < limit:
        return 0
    return max(1, math.ceil((times[-1] + window - now).total_seconds() / 60))


def _key(username: str, request: HttpRequest) -> str:
    return hashlib.sha256(f"{username.casefold()}|{address_of(request)}".encode()).hexdigest()[:40]
