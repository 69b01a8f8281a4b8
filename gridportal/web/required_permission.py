"""Who may not do something is told so on the page of refusals."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest


def require_permission(request: HttpRequest, permission: str, sentence: str, row: Model | None = None) -> None:
    """Raises PermissionDenied with the sentence for a person without the permission, for `row` where one is given."""
    if not request.user.has_perm(permission, row):
        raise PermissionDenied(sentence)
