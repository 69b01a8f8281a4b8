"""A row of the database that nobody else changes or removes for a while."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from gridportal.base.errors import ConflictError

_GONE = "was removed a moment ago. Nothing was changed."


def hold(row: Model, name: str, *, gone: str = _GONE, **still: Any) -> None:
    """Keep others from changing or removing a row until the transaction around this is over; to be called within one.

    Saving a row that somebody has removed would bring it back. Raises ConflictError where it is gone, or does not have
    the columns of `still` any more; `name`: what a sentence calls it, `gone`: how the sentence goes on.
    """
    rows = type(row)._default_manager.select_for_update().filter(pk=row.pk, **still)
    if not rows.values_list("pk", flat=True):
        raise ConflictError(f"{name} {gone}")
