"""What administrators do with people: invite, give a role, let in or shut out. Somebody always stays to do it."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import transaction

from gridportal.accounts import second_factors
from gridportal.accounts.audit import Actor
from gridportal.accounts.models import User
from gridportal.accounts.people import create_person, create_without_password, end_sessions, switch
from gridportal.accounts.roles import ADMINISTRATOR, set_role
from gridportal.base.errors import ConflictError, InputError

_LETTERS = 12


@transaction.atomic
def invite(actor: User, username: str, role: str, email: str = "") -> tuple[User, str]:
    """A new person and the first password, which is kept nowhere; none where nobody signs in by one. Raises InputError
    that names the field."""
    password = secrets.token_urlsafe(_LETTERS) if settings.PORTAL.local_passwords else ""
    if password:
        person = create_person(username, role, password, actor=actor)
    else:
        person = create_without_password(username, role, actor=actor)
    if email:
        person.email = email
        person.save(update_fields=["email"])
    return person, password


@transaction.atomic
def give_role(actor: User | str, person: User, role: str) -> User:
    """Give a person another role. Raises InputError for another word, ConflictError for the last administrator."""
    if role != ADMINISTRATOR:
        _keep_an_administrator(person)
    return set_role(person, role, actor=actor)


@transaction.atomic
def let_in(actor: User, person: User, on: bool) -> User:
    """Let a person in, or no more. Raises ConflictError for the last administrator and for a person of a log,
    InputError for oneself."""
    if on and person.from_log:
        raise ConflictError(f"{person.username} is a name in the log {person.from_log}, and nobody's account.")
    if not on and person.pk == actor.pk:
        raise InputError("person", person.username, "somebody else than you")
    if not on:
        _keep_an_administrator(person)
    return switch(person, on, actor=actor)


@transaction.atomic
def reset_second_factor(actor: Actor, person: User) -> bool:
    """Take away the second factor of somebody who has lost it, and end the sessions; whether there was one. API tokens
    stay. Raises InputError for oneself: one's own needs a code."""
    if isinstance(actor, User) and person.pk == actor.pk:
        raise InputError("person", person.username, "somebody else than you, whose code you do not need")
    had_one = second_factors.remove(person, actor=actor)
    if had_one:
        end_sessions(person)
    return had_one


def _keep_an_administrator(person: User) -> None:
    rows = User.objects.select_for_update().filter(is_superuser=True, is_active=True)
    if [row.pk for row in rows] == [person.pk]:
        raise ConflictError(f"{person.username} is the only administrator who can sign in; make another one first.")
