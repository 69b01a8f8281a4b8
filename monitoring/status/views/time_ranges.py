"""Time ranges in the address: a preset or a time such as 2h back from now, or from and to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from gridportal.base.dates import MomentField, backwards, utc_text
from gridportal.base.errors import InputError, shown
from gridportal.base.time_presets import PRESETS
from gridportal.web.templatetags.units import duration
from gridportal.web.worded_form import WordedForm
from monitoring.status.core.remos import parse_window
from monitoring.telemetry.core.figures import LONGEST

USUAL = "1h"
_ACCEPTED = f"a time back from now such as 90s, 15m, 2h or 7d, above 0 and up to {LONGEST / 86400:.0f}d"


@dataclass(frozen=True)
class TimeRange:
    """A stretch of time up to now; `preset` is how the address has it, empty when it was given by from and to."""

    start: datetime
    end: datetime
    preset: str
    label: str


class TimeRangeForm(WordedForm):
    """How far back from now, or from and to."""

    since = forms.CharField(label="Range", required=False)
    start = MomentField(label="From", required=False)
    until = MomentField(label="To", required=False)

    def __init__(self, data: Mapping[str, str]) -> None:
        super().__init__(data)
        for name in ("start", "until"):
            self.fields[name].widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def clean_since(self) -> str:
        """As it was given. ValidationError for what is no time, or longer than anything is kept."""
        text: str = self.cleaned_data["since"]
        if text and text not in PRESETS:
            try:
                parse_window(text)
            except InputError as error:
                raise forms.ValidationError(f"{shown(text)} is no range of time. Enter {_ACCEPTED}.") from error
        return text

    def clean(self) -> None:
        """From lies before To, or before now."""
        start, until = self.cleaned_data.get("start"), self.cleaned_data.get("until")
        if problem := backwards(start, until):
            self.add_error("start", problem)
            del self.cleaned_data["until"]
        elif start and start > timezone.now():
            self.add_error("start", f"{utc_text(start)} is in the future. Enter a time in the past.")

    def span(self, now: datetime) -> TimeRange:
        """The stretch asked for; what cannot be read counts as not given."""
        self.is_valid()
        start, end = self.cleaned_data.get("start"), self.cleaned_data.get("until")
        if start or end:
            last = end or now
            return TimeRange(start or last - PRESETS[USUAL][1], last, "", "chosen stretch")
        name = self.cleaned_data.get("since") or USUAL
        label, length = PRESETS[name] if name in PRESETS else _other(name)
        return TimeRange(now - length, now, name, label)

    def error_message(self) -> str:
        """One sentence of what cannot be read, by its name in the address; empty when there is nothing of it."""
        return next((f"{name}: {errors[0]}" for name, errors in self.errors.items()), "")


def _other(text: str) -> tuple[str, timedelta]:
    length = timedelta(seconds=parse_window(text).seconds)
    return f"last {duration(length)}", length
