"""Time ranges in the address: a preset, or from and to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms

from gridportal.moments import MomentField

PRESETS: Mapping[str, tuple[str, timedelta]] = {
    "15m": ("last 15 min", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "24h": ("last 24 h", timedelta(hours=24)),
    "7d": ("last 7 d", timedelta(days=7)),
    "30d": ("last 30 d", timedelta(days=30)),
}
USUAL = "1h"


@dataclass(frozen=True)
class Span:
    """A stretch of time; `preset` is empty when it was given by from and to."""

    start: datetime
    end: datetime
    preset: str
    words: str


class SpanForm(forms.Form):
    """From and to."""

    start = MomentField(label="From", required=False)
    until = MomentField(label="To", required=False)

    def __init__(self, data: Mapping[str, str]) -> None:
        super().__init__(data)
        for field in self.fields.values():
            field.widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def span(self, preset: str, now: datetime) -> Span:
        """The stretch asked for; what cannot be read counts as not given."""
        self.is_valid()
        start, end = self.cleaned_data.get("start"), self.cleaned_data.get("until")
        if start or end:
            last = end or now
            return Span(start or last - PRESETS[USUAL][1], last, "", "chosen stretch")
        name = preset if preset in PRESETS else USUAL
        words, length = PRESETS[name]
        return Span(now - length, now, name, words)
