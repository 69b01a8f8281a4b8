"""API tokens: made once, shown once, kept only as a hash, and of use until they expire or are revoked."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import ApiToken, User
from gridportal.base.errors import InputError

PREFIX = "gp_"
MAX_DAYS = 3650
MAX_TOKENS = 50
USUAL_DAYS = 90
CHOICES = (7, 30, 90, 180, 365)  # days that the account page offers, where the setting permits them


def longest_days() -> int:
    """How many days a token may last, by GRIDPORTAL_TOKEN_DAYS."""
    return settings.PORTAL.token_days or MAX_DAYS


def may_be_endless() -> bool:
    """Whether tokens without an end may be made."""
    return not settings.PORTAL.token_days


def usual_days() -> int:
    """How many days a token lasts of which nobody says it."""
    return min(USUAL_DAYS, longest_days())


def accepted_days(endless_by: str = "nothing") -> str:
    """Which days a token may last, as the end of an InputError; `endless_by`: what stands for no end."""
    endless = f", or {endless_by} for a token without an end" if may_be_endless() else ""
    return f"a whole number from 1 to {longest_days()}{endless}"


@transaction.atomic
def create_token(user: User, name: str, days: int | None = USUAL_DAYS, *, actor: Actor = None) -> tuple[ApiToken, str]:
    """A new token and its text, which cannot be had again. `days` None: it does not expire. `actor` None: `user`.

    Raises InputError for an empty, long or taken name, for days that the setting forbids and for the 51st token.
    """
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise InputError("name", name, "1 to 80 letters that say what the token is for")
    if not may_be_endless() if days is None else not 1 <= days <= longest_days():
        raise InputError("days", days, accepted_days())
    if user.tokens.filter(name=name).exists():
        raise InputError("name", name, "a name that none of your tokens has yet")
    if user.tokens.count() >= MAX_TOKENS:
        raise InputError("name", name, f"at most {MAX_TOKENS} tokens: revoke one that you no longer use")
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=text[:8],
        digest=ApiToken.digest_of(text),
        expires_at=timezone.now() + timedelta(days=days) if days is not None else None,
    )
    audit(actor or user, "token.create", token, days=days, owner=user.username)
    return token, text


@transaction.atomic
def revoke_token(actor: Actor, token: ApiToken) -> None:
    """Make the token useless at once."""
    audit(actor, "token.revoke", token, owner=token.user.username)
    token.delete()


@transaction.atomic
def revoke_tokens(actor: Actor, tokens: Iterable[ApiToken]) -> int:
    """Make all of them useless at once; how many there were."""
    found = list(tokens)
    for token in found:
        revoke_token(actor, token)
    return len(found)
