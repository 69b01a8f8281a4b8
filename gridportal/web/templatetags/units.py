"""Numbers and times as people read them; one place for all pages."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gridportal.base.rates import figure_text, hours_text

register = template.Library()

NOTHING = "—"
_ABSURD = 1e11  # seconds, more than 3,000 years


@register.filter
def rate(value: float | None) -> str:
    """bit/s as Mbit/s or Gbit/s; an em dash for nothing."""
    if value is None:
        return NOTHING
    if value >= 1e9:
        return f"{value / 1e9:.2f} Gbit/s"
    return f"{value / 1e6:.1f} Mbit/s"


@register.filter
def mbit(value: float | None) -> str:
    """bit/s as a plain number of Mbit/s, for columns that say the unit in their head."""
    return NOTHING if value is None else f"{value / 1e6:,.1f}"


@register.filter
def mbit_fine(value: float) -> str:
    """bit/s as Mbit/s with three digits that count: for errors, which may be small."""
    return NOTHING if math.isnan(value) else f"{value / 1e6:,.3g}" if value < 1e8 else f"{value / 1e6:,.0f}"


@register.filter
def mbit_text(value: float) -> str:
    """bit/s as Mbit/s for a sentence: the figure of the tables, without a last zero."""
    return f"{value / 1e6:,.1f}".removesuffix(".0")


@register.filter
def percent(value: float | None) -> str:
    """A fraction 0..1 as whole percent."""
    return NOTHING if value is None else f"{value * 100:.0f} %"


@register.filter
def share(value: float | None) -> str:
    """A fraction 0..1 as percent, with a digit more where it is small."""
    return NOTHING if value is None else f"{value * 100:.{0 if value >= 0.1 else 1}f} %"


@register.filter
def node_hours(seconds: float) -> str:
    """Node seconds as node-hours."""
    return hours_text(seconds / 3600)


@register.filter
def hours(value: float) -> str:
    """Hours with two digits, of few ones with more."""
    return hours_text(value)


@register.filter
def figure(value: float | str | None, digits: int = 2) -> str:
    """Seconds, ratios and the like with as many digits as count, as all pages write them."""
    return figure_text(float(value), digits) if value not in (None, "") else NOTHING


@register.filter
def load(value: float | None) -> str:
    """A load with two decimals."""
    return NOTHING if value is None else f"{value:.2f}"


@register.filter
def fine_percent(value: float | None) -> str:
    """A fraction 0..1 as percent with two digits that count, for what is far below one percent."""
    return NOTHING if value is None else f"{value * 100:.2g} %" if value < 0.1 else f"{value * 100:.0f} %"


@register.filter
def size(value: float | None) -> str:
    """Bytes in the unit that leaves one to three digits before the point."""
    if value is None:
        return NOTHING
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


@register.filter
def duration(value: float | timedelta | None) -> str:
    """Seconds as people say them: 0.41 s, 12.3 s, 5 min 48 s, 2 h 03 min, 2 h."""
    if value is None:
        return NOTHING
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not math.isfinite(seconds):
        return NOTHING
    if seconds >= _ABSURD:
        return f"{seconds:.1g} s"
    if 0 < seconds < 0.1:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "under 1 ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return _two(f"{minutes} min", rest, f"{rest} s")
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return _two(f"{hours} h", minutes, f"{minutes:02d} min")
    return _two(f"{hours // 24} d", hours % 24, f"{hours % 24} h")


def _two(large: str, rest: int, small: str) -> str:
    """Both units; the large one alone where nothing is left for the small one."""
    return f"{large} {small}" if rest else large


@register.filter
def counting(value: float) -> str:
    """Whole seconds of something that goes on, as the page's script counts them further."""
    seconds = int(value)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return _two(f"{seconds // 60} min", seconds % 60, f"{seconds % 60} s")
    return _two(f"{seconds // 3600} h", minutes := seconds % 3600 // 60, f"{minutes} min")


@register.filter
def sig(value: Any) -> str:
    """A figure of a program: numbers with up to ten digits, anything else as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return NOTHING if value in (None, "") else str(value)


@register.filter
def spaced(value: str) -> str:
    """`conj_grad` as `conj grad`."""
    return str(value).replace("_", " ")


def age_text(seconds: float, now: str = "now") -> str:
    """An age as in `6 min ago`, or a time to come as in `in 6 min`; the page's script keeps it moving. `now`: what a
    moment just past or to come is called."""
    if -5 < seconds < 5:
        return now
    steps = ((172800, 86400, "d"), (7200, 3600, "h"), (120, 60, "min"), (0, 1, "s"))
    length, unit = next((length, unit) for start, length, unit in steps if abs(seconds) >= start)
    amount = f"{int(abs(seconds) // length)} {unit}"
    return f"{amount} ago" if seconds > 0 else f"in {amount}"


@register.filter
def ago(value: datetime | None, now: str = "now") -> SafeString | str:
    """A time relative to now, carrying the absolute one. `now`: what is said of one of this moment."""
    if value is None:
        return NOTHING
    return format_html(
        '<time {} datetime="{}" title="{} UTC">{}</time>',
        "data-ago" if now == "now" else format_html('data-ago="{}"', now),
        value.isoformat(),
        value.strftime("%Y-%m-%d %H:%M:%S"),
        age_text((timezone.now() - value).total_seconds(), now),
    )


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """An absolute time of day with the date, in UTC."""
    if value is None:
        return NOTHING
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        value.isoformat(),
        value.strftime("%Y-%m-%d %H:%M:%S"),
        value.strftime("%Y-%m-%d %H:%M:%S"),
    )


@register.filter
def milli(value: float | None) -> str:
    """Seconds as a plain number of milliseconds; what is under a hundredth keeps one figure, as 0.00 says nothing."""
    if value is None:
        return NOTHING
    shown = value * 1000
    return f"{shown:.1g}" if 1e-4 <= shown < 0.01 else f"{shown:.2f}"


@register.filter
def add_half(value: float) -> float:
    """The base line of a text whose middle is at `value`."""
    return round(value + 4.5, 1)
