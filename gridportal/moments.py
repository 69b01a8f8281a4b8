"""Dates and times from people, within the years that clocks, databases and time zones all agree to work with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms

FIRST, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_ACCEPTED = "accepted is a date and time from 1970 to 2199, such as 2030-01-31 12:00"


class MomentField(forms.DateTimeField):
    """A moment with its time zone; UTC where none is given. At the ends of the calendar arithmetic overflows."""

    default_error_messages = {"invalid": f"This is no date and time; {_ACCEPTED}."}

    def to_python(self, value: Any) -> datetime | None:
        """None for nothing; ValidationError for what cannot be read or lies outside of those years."""
        try:
            moment: datetime | None = super().to_python(value)
        except OverflowError as error:
            raise self._refused() from error
        if moment is not None and not FIRST <= moment < END:
            raise self._refused()
        return moment

    def _refused(self) -> forms.ValidationError:
        return forms.ValidationError(self.error_messages["invalid"], code="invalid")
