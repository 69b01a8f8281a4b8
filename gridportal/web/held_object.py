"""Changing a row over REST: of two people at once the second one changes what the first one has saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from rest_framework.generics import GenericAPIView

from gridportal.base.held_row import hold


class HeldObject(GenericAPIView[Any]):
    """For views of which a service saves all fields of a row: those that the body does not name have to be the ones of
    now, so nobody else changes the row between the reading and the saving."""

    def object_to_change(self) -> Any:
        """The row that the address names. Raises Http404."""
        return self.get_object()

    @contextmanager
    def held_object(self) -> Iterator[Any]:
        """The row, read while it is held; to be saved within. Raises Http404, ConflictError where somebody removed
        it."""
        with transaction.atomic():
            row = self.object_to_change()
            hold(row, f"The {row._meta.verbose_name}")
            yield self.object_to_change()
