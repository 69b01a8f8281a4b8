"""Requests that people keep under a name, for themselves or for all."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.matching.models import SavedRequest
from scheduling.matching.services.checked_texts import check_request

_LONGEST_NAME = 80


@transaction.atomic
def save_request(actor: User, name: str, text: str, *, shared: bool | None = None) -> SavedRequest:
    """Keep a request under a name; of the same name a second time it takes the first one's place.

    `shared`: whether everybody may use it; None: as the first one, a new one for its owner alone.
    Raises InputError for a name or a text that cannot be kept.
    """
    name = " ".join(name.split())
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InputError("name", name[:40], f"a name of 1 to {_LONGEST_NAME} characters")
    check_request(text)
    values = {"text": text, "changed_at": timezone.now(), **({} if shared is None else {"shared": shared})}
    row, _ = SavedRequest.objects.update_or_create(owner=actor, name=name, defaults=values)
    audit(actor, "saved_request.save", row, shared=row.shared)
    return row


@transaction.atomic
def remove_request(actor: User, row: SavedRequest) -> None:
    """Forget it. Raises PermissionDenied for another person's."""
    if row.owner_id != actor.pk and not actor.is_superuser:
        raise PermissionDenied(f"Only {row.owner.username} and administrators may remove it.")
    audit(actor, "saved_request.remove", row)
    row.delete()
