"""A row of the database that nobody else changes or removes for a while."""

from __future__ import annotations

from django.db.models import Model

from gridportal.base.errors import ConflictError


def hold(row: Model, name: str) -> None:
    """Keep others from changing or removing a row until the transaction around this is over; to be called within one.

    Saving a row that somebody has removed would bring it back. Raises ConflictError where it is gone; `name`: what a
    sentence calls it.
    """
    rows = type(row)._default_manager.select_for_update().filter(pk=row.pk)
    if not rows.values_list("pk", flat=True):
        raise ConflictError(f"{name} was removed a moment ago. Nothing was changed.")
