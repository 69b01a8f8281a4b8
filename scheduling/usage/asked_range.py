"""The time of a report, or of another page with such a choice: what the address names, the last 30 days unless told
otherwise, ten years at most."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from scheduling.jobs.filters import REPORT_PRESETS
from scheduling.usage.ranges import Range

#: What is shown where nobody names a time, and the longest that can be.
USUAL, LONGEST = "30d", timedelta(days=3653)


def asked_range(values: Mapping[str, Any], since: str) -> Range:
    """The range of `start` and `until`, or of a preset; longer than two days in whole days. `values`: what a filter
    form understood."""
    return exact_range(values, since).in_days(timezone.now())


def exact_range(values: Mapping[str, Any], since: str) -> Range:
    """The same to the second."""
    now = timezone.now()
    until = min(values.get("until") or now, now)
    begin = values.get("start")
    if begin is None:
        begin = until - REPORT_PRESETS.get(since, REPORT_PRESETS[USUAL])[1]
    return Range(min(max(begin, until - LONGEST), until), until)


def range_note(span: Range, values: Mapping[str, Any]) -> str:
    """What a reader is to know of a long time: that it is shown by month, and what of the asked one is left out."""
    asked = values.get("start")
    cut = f" Longer than ten years cannot be shown: what was before {span.begin:%Y-%m-%d} is left out."
    left_out = cut if asked is not None and asked < span.begin else ""
    return f"Longer than a year, so it is shown by month, not by day.{left_out}" if span.is_in_months else ""


def range_text(span: Range) -> str:
    """A range in words: a long one by its days."""
    if span.is_in_days:
        last = span.until - timedelta(microseconds=1)
        days = f"{span.begin:%Y-%m-%d} to {last:%Y-%m-%d}, in whole days of UTC"
        return days if last.date() != span.until.date() else f"{days}; the last one until {span.until:%H:%M}"
    return f"{span.begin:%Y-%m-%d %H:%M} to {span.until:%Y-%m-%d %H:%M} UTC"
