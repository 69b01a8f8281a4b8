"""From a person who was recognized to a session: the second factor between, and what the session remembers of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest

from gridportal.accounts import second_factors
from gridportal.accounts.models import User
from gridportal.accounts.second_factors import Factor
from gridportal.accounts.sign_in import record_success

BACKEND = "django.contrib.auth.backends.ModelBackend"
_HALF = "half-signed-in"
_FACTOR = "second-factor"
_SINCE = "signed-in-at"
_CONFIRMED = "second-factor-at"
_HALF_SECONDS = 600
CONFIRMED_SECONDS = 600  # for so long a second factor that was right lets change second factors
FRESH_SECONDS = 1800  # after which the second factor is not changed without a new sign-in


class Way(StrEnum):
    """How somebody was recognized."""

    PASSWORD = "password"  # noqa: S105 - no password
    PROVIDER = "provider"
    LDAP = "ldap"


@dataclass(frozen=True, slots=True)
class Half:
    """Somebody whose second factor is still to come."""

    person: User
    way: Way
    address: str


def asks_for_code(person: User, way: Way) -> bool:
    """Whether a code is asked for after this way: of everybody who has a second factor, unless the provider asks."""
    return not _is_asked_by_provider(way) and second_factors.is_set_up(person)


def remember_half(request: HttpRequest, person: User, way: Way, address: str) -> None:
    """Keep in the session who it is, for ten minutes; nobody is signed in by that."""
    request.session.cycle_key()
    request.session[_HALF] = {
        "person": person.pk,
        "hash": person.get_session_auth_hash(),
        "way": way.value,
        "address": address,
        "at": time.time(),
    }


def half_of(request: HttpRequest) -> Half | None:
    """Who it was, as long as the account is as it was then."""
    kept: dict[str, Any] | None = request.session.get(_HALF)
    if kept is None or not 0 <= time.time() - kept["at"] <= _HALF_SECONDS:
        return None
    person = User.objects.filter(pk=kept["person"], is_active=True).first()
    if person is None or person.get_session_auth_hash() != kept["hash"]:
        return None
    return Half(person, Way(kept["way"]), kept["address"])


def begin_session(request: HttpRequest, person: User, way: Way, factor: Factor | None = None) -> None:
    """Sign `person` in; the trail says how."""
    if factor is None and _is_asked_by_provider(way):
        factor = Factor.PROVIDER
    request.session.pop(_HALF, None)
    login(request, person, backend=BACKEND)
    request.session[_SINCE] = time.time()
    note_factor(request, factor)
    record_success(person, request, way=way, factor=factor)


def note_factor(request: HttpRequest, factor: Factor | None) -> None:
    """This session has passed a second factor, or has none."""
    request.session[_FACTOR] = factor.value if factor else ""
    request.session[_CONFIRMED] = time.time() if factor and factor is not Factor.PROVIDER else 0


def has_passed(request: HttpRequest) -> bool:
    """Whether this session has passed a second factor."""
    return bool(request.session.get(_FACTOR))


def is_confirmed(request: HttpRequest) -> bool:
    """Whether this session has shown a second factor a short while ago."""
    return bool(0 <= time.time() - request.session.get(_CONFIRMED, 0) <= CONFIRMED_SECONDS)


def may_change_factors(request: HttpRequest, person: User) -> bool:
    """Whether second factors may be changed now: of whoever has one a short while after it was shown; the first is set
    up a short while after signing in."""
    return is_confirmed(request) if second_factors.is_set_up(person) else is_fresh(request)


def is_fresh(request: HttpRequest) -> bool:
    """Whether this person has signed in a short while ago."""
    return bool(0 <= time.time() - request.session.get(_SINCE, 0) <= FRESH_SECONDS)


def why_not_fresh(request: HttpRequest) -> str:
    """What to say to somebody who wants to change the ways to sign in long after signing in; nothing to others."""
    return "" if is_fresh(request) else "You signed in more than half an hour ago: sign in again to change this."


def _is_asked_by_provider(way: Way) -> bool:
    return way is Way.PROVIDER and bool(settings.PORTAL.oidc_second_factor)
