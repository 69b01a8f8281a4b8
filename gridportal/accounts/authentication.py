"""Bearer tokens for the REST API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from gridportal.accounts.models import ApiToken

_TOUCH_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TEXT`; only the SHA-256 of the text is looked up."""

    keyword = "bearer"

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != self.keyword.encode():
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header must read: Bearer TOKEN.")
        digest = ApiToken.digest_of(words[1].decode("latin-1"))
        token = ApiToken.objects.select_related("user").filter(digest=digest).first()
        now = timezone.now()
        if token is None or not token.user.is_active or token.is_expired:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked; make a new one on your account page."
            )
        if token.last_used_at is None or now - token.last_used_at > _TOUCH_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
