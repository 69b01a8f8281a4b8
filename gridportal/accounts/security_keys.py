"""Security keys and passkeys as second factors (WebAuthn): a key signs a challenge of the portal, for it alone.

Source: Web Authentication, level 2. allauth speaks it (`allauth.mfa.webauthn`) and keeps public keys; the challenge
waits in the session, and is of use once.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils import timezone

from gridportal.accounts import second_factors
from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.accounts.second_factors import Factor
from gridportal.base.errors import ConflictError, InputError

MOST = 10  # keys of one person
_LONGEST_NAME = 60
_LONGEST_ANSWER = 64_000  # letters of what a browser sends
_HERE = ("localhost",)


class SecurityKey(NamedTuple):
    """A key as its owner sees it."""

    pk: int
    name: str
    added_at: datetime
    last_used_at: datetime | None


def why_no_keys(request: HttpRequest) -> str:
    """Why no browser would let a key speak at this address; empty where one does."""
    host = split_domain_port(request.get_host())[0].strip("[]")
    if _is_number(host):
        return f"Keys need an address with a name. This one is {host}; on the same machine open localhost instead."
    if host not in _HERE and not host.endswith(".localhost") and not request.is_secure():
        return "Keys need an address that begins with https."
    return ""


def keys_of(person: User) -> list[SecurityKey]:
    """The oldest first."""
    rows = _rows(person).order_by("created_at", "pk")
    return [SecurityKey(row.pk, str(row.data["name"]), row.created_at, row.last_used_at) for row in rows]


def has_keys(person: User) -> bool:
    """Whether there is one."""
    return bool(_rows(person).exists())


def adding_options(person: User) -> dict[str, Any]:
    """What the browser asks a new key for; the challenge waits in the session."""
    from allauth.mfa.webauthn.internal import auth

    options: dict[str, Any] = _plain(auth.begin_registration(person, passwordless=False))
    return options


def asking_options(person: User) -> dict[str, Any]:
    """What the browser asks one of the person's keys for."""
    from allauth.mfa.webauthn.internal import auth

    options: dict[str, Any] = _plain(auth.begin_authentication(person))
    return options


@transaction.atomic
def add_key(person: User, name: str, answer: str) -> list[str]:
    """Keep a key that answered `adding_options`; recovery codes where it is the first factor, else none. Raises
    InputError for a name, or an answer, that cannot be taken, ConflictError where there are too many."""
    from allauth.mfa.webauthn.internal import auth

    keys = keys_of(User.objects.select_for_update().get(pk=person.pk))
    if len(keys) >= MOST:
        raise ConflictError(f"You have {MOST} keys; remove one first.")
    name = _free_name(name, [key.name for key in keys])
    credential = _document(answer)
    try:
        auth.parse_registration_response(credential)
        auth.complete_registration(credential)
    except (ValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("credential", "***", "what your key answered just now; try again") from error
    is_first = not second_factors.is_set_up(person)
    auth.WebAuthn.add(person, name, credential)
    audit(person, "person.second_factor_set", person, factor=Factor.KEY, name=name)
    return second_factors.fresh_codes(person) if is_first else []


def accept_key(person: User, answer: str) -> Factor | None:
    """KEY where one of the person's keys has answered `asking_options` rightly; None: it has not."""
    from allauth.mfa.webauthn.internal import auth

    try:
        response = _document(answer)
        auth.parse_authentication_response(response)
        row = auth.complete_authentication(person, response)
    except (ValidationError, InputError, ValueError, TypeError, KeyError, AttributeError):
        return None
    Authenticator.objects.filter(pk=row.pk).update(last_used_at=timezone.now())
    return Factor.KEY


@transaction.atomic
def rename_key(person: User, pk: int, name: str) -> str:
    """Another name. Raises InputError for one that cannot be taken, or a key that is not there."""
    row = _row(person, pk)
    row.data["name"] = _free_name(name, [key.name for key in keys_of(person) if key.pk != pk])
    row.save(update_fields=["data"])
    audit(person, "person.rename_key", person, name=row.data["name"])
    return str(row.data["name"])


@transaction.atomic
def remove_key(person: User, pk: int) -> str:
    """Take one away; its name. With the last factor the recovery codes go. Raises InputError where it is not there."""
    row = _row(person, pk)
    name = str(row.data["name"])
    row.delete()
    audit(person, "person.second_factor_removed", person, factor=Factor.KEY, name=name)
    second_factors.forget_spare_codes(person)
    return name


def _rows(person: User) -> Any:
    return Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN)


def _row(person: User, pk: int) -> Authenticator:
    row = _rows(person).select_for_update().filter(pk=pk).first()
    if row is None:
        raise InputError("key", pk, "a key of yours")
    return row


def _free_name(name: str, taken: list[str]) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError("name", name, f"a name of 1 to {_LONGEST_NAME} characters")
    if name.casefold() in (each.casefold() for each in taken):
        raise InputError("name", name, "a name that no other key of yours has")
    return name


def _document(answer: str) -> dict[str, Any]:
    """A browser's answer. Raises InputError for what is none."""
    try:
        document = json.loads(answer) if len(answer) <= _LONGEST_ANSWER else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InputError("credential", "***", "what your key answered just now; try again")
    return document


def _plain(value: Any) -> Any:
    """As JSON has it: what allauth gives is made of mappings that are no dicts."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
