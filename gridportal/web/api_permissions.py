"""The rules of accounts, scheduling and monitoring as DRF permissions."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request


def may(permission: str, *, read: str | None = None) -> type[BasePermission]:
    """A permission class that asks for `permission`; reading asks for `read` instead when that is given."""

    class May(BasePermission):
        message = "Your role does not allow this; your account page says what it allows."

        def has_permission(self, request: Request, view: Any) -> bool:
            asked = read if read and request.method in SAFE_METHODS else permission
            role = getattr(request.user, "role", "")
            self.message = (
                f"Your role{f' {role}' if role else ''} does not allow this: it needs the permission {asked}. Your "
                "account page says what your role allows."
            )
            return bool(request.user.is_authenticated and request.user.has_perm(asked))

    return May
