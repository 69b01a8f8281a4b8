"""Who asks: the person behind a request to a page or to the API."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from rest_framework.request import Request

from gridportal.accounts.models import User


def caller(request: HttpRequest | Request) -> User:
    """The person who is signed in. Raises PermissionDenied for nobody, which middleware and permissions keep away."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user
