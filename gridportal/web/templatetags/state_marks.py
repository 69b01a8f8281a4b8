"""States and shares as marks: a sign and a colour, never the colour alone."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gridportal.web.templatetags.units import NOTHING, percent

register = template.Library()

# State, mark and tone: never colour alone.
STATE_MARKS: Mapping[str, tuple[str, str]] = {
    "queued": ("○", "wait"),
    "placing": ("◔", "wait"),
    "waiting": ("◷", "risk"),
    "trial": ("◒", "wait"),
    "choice": ("◷", "risk"),
    "starting": ("◑", "wait"),
    "running": ("●", "good"),
    "moving": ("◐", "wait"),
    "cancelling": ("◌", "risk"),
    "succeeded": ("✓", "good"),
    "failed": ("✕", "bad"),
    "cancelled": ("■", "wait"),
    "stopping": ("◌", "risk"),
    "stopped": ("■", "wait"),
    "done": ("✓", "good"),
    "prepared": ("○", "wait"),
    "submitted": ("◷", "wait"),
    "held": ("❚❚", "risk"),
    "requeued": ("◷", "risk"),
    "recalling": ("◌", "wait"),
    "missing": ("▲", "risk"),
    "recalled": ("↩", "wait"),
    "checkpointed": ("◆", "good"),
    "halting": ("◌", "wait"),
    "asked": ("○", "wait"),
    "reading": ("◑", "wait"),
    "moved": ("✓", "good"),
    "refused": ("■", "risk"),
    "not stopped": ("▲", "risk"),
    "started anew": ("▲", "risk"),
    "ended": ("✓", "good"),
    "proposed": ("▲", "risk"),
    "approved": ("✓", "good"),
    "overridden": ("✎", "good"),
    "expired": ("◷", "wait"),
    "declined": ("–", "wait"),
    "observed": ("◉", "wait"),
    "verified": ("✓", "good"),
    "answered": ("✓", "good"),
    "unmatched": ("–", "risk"),
}


@register.filter
def state(value: str, label: str = "") -> SafeString:
    """The state of a job or of a run: its mark, its word or other words for it, its tone."""
    mark, tone = STATE_MARKS.get(value, ("?", "wait"))
    shown = label or value
    return format_html('<span class="state {}"><span aria-hidden="true">{}</span> {}</span>', tone, mark, shown)


@register.filter
def tone(value: str) -> str:
    """good, wait, risk or bad for the state of a job or of a run."""
    return STATE_MARKS.get(value, ("?", "wait"))[1]


@register.filter
def ramp(share: float | None) -> str:
    """The step 0..4 of the ramp for the share of a path that is available; `-none` when unknown."""
    return "-none" if share is None else str(step_of(share))


def step_of(share: float) -> int:
    """The step 0..4 of a share, by the whole percent that is shown for it: what reads 60 % is not below 60 %."""
    return min(4, max(0, round(share * 100) // 20))


@register.filter
def percent_css(share: float | None) -> str:
    """A fraction 0..1 as a width of a style."""
    return f"{100 * min(1.0, max(0.0, share or 0.0)):.1f}%"


@register.simple_tag
def share_mark(bandwidth: float | None, capacity: float) -> SafeString | str:
    """The share of the peak as a bar in the colour of its step, with the figure."""
    if bandwidth is None:
        return NOTHING
    share = min(1.0, bandwidth / capacity)
    return format_html(
        '<span class="share" aria-hidden="true"><i class="b{}" style="width:{}"></i></span> {}',
        ramp(share),
        percent_css(share),
        percent(share),
    )
