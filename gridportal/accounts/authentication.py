"""Bearer tokens for the REST API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from gridportal.accounts import wrong_tokens
from gridportal.accounts.models import ApiToken

_TOUCH_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TEXT`. Only the SHA-256 of the text is looked up, so that how long that takes tells
    nothing of the text; after too many wrong ones from an address nothing is looked up."""

    keyword = "bearer"

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != self.keyword.encode():
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("The Authorization header must read: Bearer TOKEN.")
        digest = ApiToken.digest_of(parts[1].decode("latin-1"))
        if seconds := wrong_tokens.seconds_to_wait(request._request, digest):
            raise Throttled(seconds, "Too many wrong tokens came from this address.")
        token = ApiToken.objects.select_related("user").filter(digest=digest).first()
        if problem := _problem(token):
            wrong_tokens.count(request._request)
            raise AuthenticationFailed(problem)
        assert token is not None  # noqa: S101 - else there is a problem
        now = timezone.now()
        if token.last_used_at is None or not timedelta(0) <= now - token.last_used_at <= _TOUCH_EVERY:
            wrong_tokens.remember(digest)
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="GridPortal"'


def _problem(token: ApiToken | None) -> str:
    """Why this token opens nothing; empty when it does."""
    if token is None:
        return "This token is unknown or revoked; make a new one on your account page."
    if not token.user.is_active:
        return "The account of this token has been switched off; ask an administrator."
    if token.is_expired and token.expires_at:
        return f"This token expired on {token.expires_at:%Y-%m-%d %H:%M} UTC; make a new one on your account page."
    return ""
