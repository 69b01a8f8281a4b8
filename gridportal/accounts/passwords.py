"""What a new password ends: the person's other sessions, as their keys are made from it, and the API tokens."""

from __future__ import annotations

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from gridportal.accounts.audit import Actor, Subject, audit
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.tokens import revoke_tokens
from gridportal.base.errors import InputError

_SETS_PASSWORD = ("person.create", "person.change_password")
_PORTAL = "portal"


class RevokeTokens:
    """One of Django's password validators, which it calls whoever changes a password: a page, the administration,
    `manage.py changepassword`. It refuses none. `user.keeps_tokens` is set by who asked to keep the tokens."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Every password will do."""

    def get_help_text(self) -> str:
        """What the administration shows beside the field."""
        return "A new password revokes the person's API tokens and ends the other sessions."

    def password_changed(self, password: str, user: User | None = None) -> None:
        """Django has saved it."""
        if isinstance(user, User) and user.pk and not user.keeps_tokens:
            revoke_tokens("portal", user.tokens.all())


def is_from_another(person: User) -> bool:
    """Whether somebody else has set this password, so that two know it. Those of the portal's own demo do not count."""
    if not person.has_usable_password():
        return False
    subject = Subject.of(person)
    rows = AuditEvent.objects.filter(object_type=subject.type, object_id=subject.id, action__in=_SETS_PASSWORD)
    newest = rows.order_by("-at", "-pk").values_list("actor", "actor_name").first()
    return newest is not None and newest[0] != person.pk and newest[1] != _PORTAL


@transaction.atomic
def set_password(person: User, password: str, *, keep_tokens: bool = False, actor: Actor = None) -> int:
    """Give `person` a new password; how many tokens that revoked. Raises InputError for a weak one."""
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InputError("password", "***", " ".join(error.messages)) from error
    before = person.tokens.count()
    person.keeps_tokens = keep_tokens
    person.set_password(password)
    person.save(update_fields=["password"])
    revoked = before - person.tokens.count()
    audit(actor or person, "person.change_password", person, tokens_revoked=revoked)
    return revoked
