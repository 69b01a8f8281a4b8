"""Dates and times from people, within the years that clocks, databases and time zones all agree to work with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django import forms

from gridportal.base.errors import shown

FIRST, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REFUSED = "%(value)s is no date and time. Enter a date and time from 1970 to 2199, such as 2030-01-31 12:00."


class MomentField(forms.DateTimeField):
    """A moment with its time zone; UTC where none is given. At the ends of the calendar arithmetic overflows."""

    def to_python(self, value: Any) -> datetime | None:
        """None for nothing; ValidationError for what cannot be read or lies outside of those years."""
        try:
            moment: datetime | None = super().to_python(value)
        except (OverflowError, forms.ValidationError) as error:
            raise _refused(value) from error
        if moment is not None and not FIRST <= moment < END:
            raise _refused(value)
        return moment

    def prepare_value(self, value: Any) -> Any:
        """A day that an address names alone is its beginning, for a browser's field has a time, too."""
        if isinstance(value, str) and _DAY.fullmatch(value.strip()):
            return f"{value.strip()}T00:00"
        return super().prepare_value(value)


def backwards(start: datetime | None, until: datetime | None) -> str:
    """What to say of a range whose From lies after its To; empty for a range that is in order."""
    if start is None or until is None or start <= until:
        return ""
    return f"{utc_text(start)} is after To. Enter a time before {utc_text(until)}."


def utc_text(at: datetime) -> str:
    """A moment as pages write it.

    >>> utc_text(datetime(2030, 1, 31, 12, tzinfo=UTC))
    '2030-01-31 12:00:00 UTC'
    """
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _refused(value: Any) -> forms.ValidationError:
    return forms.ValidationError(_REFUSED, code="invalid", params={"value": shown(str(value))})
