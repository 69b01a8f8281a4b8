"""Numbers, times and states as people read them; one place for all pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gridportal.base.rates import figure_text, hours_text

register = template.Library()

NOTHING = "—"
_ABSURD = 1e11  # seconds, more than 3,000 years
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
def job_name(job: Any) -> str:
    """What a person called a job, else what it runs: `NAS CG class W`."""
    size = job.parameters.get("class") if isinstance(job.parameters, dict) else None
    return job.name or f"{job.application.name}{f' class {size}' if size else ''}"


@register.filter
def ran(job: Any) -> float | None:
    """For how long a job's program was there, in seconds, starting and ending included; None while it is not over. Of
    all its runs, where the query has added them up (`all_runs`); else of the last one."""
    return running_seconds(job.started_at, job.ended_at, getattr(job, "all_runs", None), job.state)


def running_seconds(
    started: datetime | None, ended: datetime | None, all_runs: timedelta | None, state: str
) -> float | None:
    """The same of what a row has: `all_runs`: how long all runs lasted together, None where nobody added them up.
    A stopped job is not over, but none of its runs goes on."""
    if state == "stopped" and all_runs is not None:
        return all_runs.total_seconds()
    if started is None or ended is None:
        return None
    return (all_runs or ended - started).total_seconds()


@register.filter
def runs_for(job: Any) -> float | None:
    """For how long a job that runs did so until now, in seconds, with its earlier runs; None where it does not run.
    Its own start is that of its first run, so where earlier runs were added up (`all_runs`) the query says when this
    one began, too (`run_began`)."""
    if job.started_at is None or job.ended_at is not None or job.state != "running":
        return None
    return seconds_until_now(job.started_at, getattr(job, "all_runs", None), getattr(job, "run_began", None))


def seconds_until_now(started: datetime, all_runs: timedelta | None, run_began: datetime | None) -> float:
    """The same of what a row has."""
    before = all_runs or timedelta()
    return max(0.0, (before + (timezone.now() - (run_began or started))).total_seconds())


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


@register.simple_tag
def holder(held: Mapping[str, int], node: str) -> SafeString | str:
    """Which job holds a node, as a link."""
    job = held.get(node)
    return NOTHING if job is None else format_html('<a href="{}">job {}</a>', reverse("job", args=[job]), job)


@register.simple_tag(takes_context=True)
def address(context: Any, **changes: Any) -> str:
    """This page's query with some values changed; an empty value drops the name."""
    query: QueryDict = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return "?" + urlencode([(name, item) for name, items in query.lists() for item in items if item])


@register.simple_tag(takes_context=True)
def time_range(context: Any) -> str:
    """The range of time of this page's query, for a link to another page that has one; empty where there is none."""
    query: QueryDict = context["request"].GET
    found = [(name, query[name]) for name in ("since", "start", "until") if query.get(name)]
    return f"?{urlencode(found)}" if found else ""


@register.inclusion_tag("partials/sort_head.html", takes_context=True)
def sort_head(
    context: Any, name: str, label: str, css: str = "", by: str = "sort", pages: str = "page", hint: str = ""
) -> dict[str, Any]:
    """A table head that sorts: ascending, then descending. The page's `sort` says which is on; its `unsorted` has the
    columns of a list that is too long for their sort, each with the most rows that can be sorted so.

    `by`, `pages`: what the sort and the pages are called in the address; another table than the page's first has its
    own, and stands at `#pages`. A table of the page that has no sort is included with `plain_heads`.
    """
    now = context.get(by, "")
    following = f"-{name}" if now == name else name
    direction = {name: "ascending", f"-{name}": "descending"}.get(now, "")
    href = address(context, **{by: following, pages: ""}) + ("" if pages == "page" else f"#{pages}")
    most = context.get("unsorted", {}).get(name, 0)
    href = "" if most or context.get("plain_heads") else href
    label = label.replace(", s", ",\N{NO-BREAK SPACE}s")
    return {
        "label": label,
        "css": css,
        "href": href,
        "direction": direction,
        "id": f"{by}-{name}",
        "most": most,
        "hint": hint,
    }
