"""Making people, and the people of the demo."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.accounts.roles import ADMINISTRATOR, ALL_ROLES, set_role
from gridportal.errors import InputError

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
    if role not in ALL_ROLES:
        raise InputError("role", role, f"one of {', '.join(ALL_ROLES)}")
    person = User(username=username)
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError as error:
        raise InputError("username", username, "letters, digits and @ . + - _ only") from error
    if User.objects.filter(username__iexact=username).exists():
        raise InputError("username", username, "a name that nobody has yet")
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InputError("password", "***", " ".join(error.messages)) from error
    return _add(person, role, password, actor)


def ensure_demo_people() -> list[tuple[str, str, str]]:
    """The demo's people as (username, password, role); a second call gives the same sign-ins and changes nothing."""
    password = _demo_password()
    for username, role in DEMO_PEOPLE:
        person = User.objects.filter(username=username).first()
        if person is None:
            _add(User(username=username), role, password, "portal")
            continue
        if person.role != role:
            set_role(person, role)
        if not person.check_password(password) or not person.is_active:
            person.set_password(password)
            person.is_active = True
            person.save(update_fields=["password", "is_active"])
    return [(username, password, role) for username, role in DEMO_PEOPLE]


@transaction.atomic
def _add(person: User, role: str, password: str, actor: User | str) -> User:
    person.set_password(password)
    person.save()
    audit(actor, "person.create", person, role=role)
    return set_role(person, role, actor=actor)


def _demo_password() -> str:
    if settings.KNOBS.demo_password:
        return str(settings.KNOBS.demo_password)
    path = Path(settings.KNOBS.home) / "demo_password"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(9), encoding="ascii")
    return path.read_text(encoding="ascii").strip()
