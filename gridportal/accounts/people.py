"""Making people, and the people of the demo."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import ROLES, User
from gridportal.accounts.roles import ADMINISTRATOR, ALL_ROLES, set_role
from gridportal.accounts.tokens import revoke_tokens
from gridportal.base.errors import InputError
from gridportal.base.new_names import check_new_name

DEMO_PEOPLE = (
    ("user1", "user"),
    ("user2", "user"),
    ("operator1", "operator"),
    ("manager1", "manager"),
    ("admin1", ADMINISTRATOR),
)


@transaction.atomic
def create_person(username: str, role: str, password: str, *, actor: User | str = "portal") -> User:
    """A person who can sign in. Raises InputError for a taken or malformed name, an unknown role, a weak password."""
    check_new(username, role)
    person = User(username=username)
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InputError("password", "***", " ".join(error.messages)) from error
    person.set_password(password)
    return add_person(person, role, actor)


@transaction.atomic
def create_without_password(username: str, role: str, *, actor: User | str = "portal") -> User:
    """A person who comes by single sign-on or LDAP. Raises InputError for a name or a role that cannot be taken."""
    check_new(username, role)
    person = User(username=username)
    person.set_unusable_password()
    return add_person(person, role, actor)


def check_new(username: str, role: str) -> None:
    """Raises InputError for a taken or malformed name, or an unknown role: before anybody is asked for a password."""
    if role not in ALL_ROLES:
        raise InputError("role", role, f"one of {', '.join(ALL_ROLES)}")
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError as error:
        raise InputError("username", username, "letters, digits and @ . + - _ only") from error
    check_new_name("username", username)
    if User.objects.filter(username__iexact=username).exists():
        raise InputError("username", username, "a name that nobody has yet")
    if Group.objects.filter(name__iexact=username).exclude(name__in=ROLES).exists():
        raise InputError("username", username, "a name that no group has")


@transaction.atomic
def switch(person: User, on: bool, *, actor: Actor = "portal") -> User:
    """Let a person in, or no more. Off: tokens are revoked and sessions end, so that on again revives none of them."""
    person.is_active = on
    person.save(update_fields=["is_active"])
    if not on:
        shut_out(person, actor=actor)
    audit(actor, "person.switch_on" if on else "person.switch_off", person)
    return person


def shut_out(person: User, *, actor: Actor = "portal") -> None:
    """End everything by which somebody acts as `person` now."""
    revoke_tokens(actor, person.tokens.all())
    end_sessions(person)


def end_sessions(person: User, *, but: str | None = None) -> None:
    """Whoever is signed in as `person` is signed out, `but` the session of that key; API tokens stay."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=but).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(person.pk):
            session.delete()


def forget_sessions() -> int:
    """Remove the sessions that nobody can use any more; how many."""
    count, _ = Session.objects.filter(expire_date__lte=timezone.now()).delete()
    return count


def ensure_demo_people() -> list[tuple[str, str, str]]:
    """The demo's people as (username, password, role); a second call gives the same sign-ins and changes nothing.

    All have one password, which is hashed once: a hash takes a third of a second of a processor.
    """
    password = _demo_password()
    right: list[str] = []  # hashes of this password
    for username, role in DEMO_PEOPLE:
        person = User.objects.filter(username=username).first()
        if person is None:
            right = right or [make_password(password)]
            add_person(User(username=username, password=right[0]), role, "portal")
            continue
        if person.own_role != role:
            set_role(person, role)
        if not (person.password in right or person.check_password(password)) or not person.is_active:
            person.set_password(password)
            person.is_active = True
            person.save(update_fields=["password", "is_active"])
        right.append(person.password)
    return [(username, password, role) for username, role in DEMO_PEOPLE]


@transaction.atomic
def add_person(person: User, role: str, actor: User | str) -> User:
    """Keep a person that was not in the database, with a role."""
    person.save()
    audit(actor, "person.create", person, role=role)
    return set_role(person, role, actor=actor)


def _demo_password() -> str:
    if settings.PORTAL.demo_password:
        return str(settings.PORTAL.demo_password)
    path = Path(settings.PORTAL.home) / "demo_password"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(9), encoding="ascii")
    return path.read_text(encoding="ascii").strip()
