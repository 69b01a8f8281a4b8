"""API tokens: made once, shown once, kept only as a hash."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import ApiToken, User
from gridportal.errors import InputError

PREFIX = "gp_"
MAX_DAYS = 3650
MAX_TOKENS = 50


@transaction.atomic
def create_token(user: User, name: str, days: int | None = 90) -> tuple[ApiToken, str]:
    """A new token and its text, which cannot be had again. `days` None: it does not expire.

    Raises InputError for an empty, long or taken name, for days outside 1..3650 and for the 51st token.
    """
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise InputError("name", name, "1 to 80 letters that say what the token is for")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise InputError("days", days, f"a whole number from 1 to {MAX_DAYS}, or nothing for a token without an end")
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
    audit(user, "token.create", token, days=days)
    return token, text


@transaction.atomic
def revoke_token(actor: User, token: ApiToken) -> None:
    """Make the token useless at once."""
    audit(actor, "token.revoke", token, owner=token.user.username)
    token.delete()
