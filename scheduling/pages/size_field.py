"""A field of the form for a size in MB, which people may also write in GB."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.base.sizes import parse_size

#: What may be written, for the help below a field.
SIZES = "In MB, or with a unit: 4 GB, 500M."


class SizeField(forms.CharField):
    """A whole number of MB (2**20 bytes) up to `most`: "512", "512 MB", "4 GB" or "500M"; None where nothing is given.
    It is shown with its unit."""

    def __init__(self, label: str, most: int, help_text: str) -> None:
        self._most = most
        widget = forms.TextInput(attrs={"autocomplete": "off", "placeholder": "4 GB"})
        super().__init__(label=label, required=False, max_length=40, widget=widget, help_text=help_text)

    def prepare_value(self, value: Any) -> Any:
        """With the unit, where it is a number of an old job."""
        return f"{value} MB" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """The number."""
        text = super().clean("" if value is None else str(value))
        if not text:
            return None
        try:
            size = round(parse_size(text, "M"))
        except ValueError:
            size = 0
        if not 1 <= size <= self._most:
            raise forms.ValidationError(f"Enter a size from 1 MB to {self._most:,} MB, such as 512 MB or 4 GB.")
        return size
