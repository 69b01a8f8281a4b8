"""One chart of a page about a node or a link: series over the range in the address, a sentence, a table, its CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from gridportal.base.time_presets import PRESETS
from monitoring.clusters.models import Cluster
from monitoring.history.charts import history as charts
from monitoring.history.charts.history import ForecastLine, Line, Mark, Shown
from monitoring.history.core.samples import History
from monitoring.history.selectors import series as history_series
from monitoring.status.views.time_ranges import TimeRange, TimeRangeForm

LATEST = 50


@dataclass(frozen=True)
class Wanted:
    """A chart to make: `series` by the words for each; `scale` divides values for the axis, whose unit is `unit`."""

    key: str
    title: str
    series: Sequence[tuple[str, str, str]]  # words, subject, metric
    unit: str
    shown: Shown
    scale: float = 1.0
    peak: float | None = None


@dataclass(frozen=True)
class Panel:
    """A chart that is made. `rows`: the latest readings, the newest first, a column for each series."""

    key: str
    title: str
    finding: str
    figure: dict[str, Any] | None
    heads: list[str]
    rows: list[tuple[datetime, list[str]]]
    count: int
    downloads: list[tuple[str, str]]
    histories: list[History] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def script(self) -> str:
        """The element with the figure."""
        return f"{self.key}-figure"


def span_of(request: HttpRequest) -> TimeRange:
    """The range in the address."""
    return TimeRangeForm(request.GET).span(timezone.now())


def ranges(request: HttpRequest, span: TimeRange) -> dict[str, Any]:
    """What the bar of ranges shows."""
    presets = [(name, label) for name, (label, _) in PRESETS.items()]
    return {"span": span, "span_form": TimeRangeForm(request.GET), "presets": presets}


def panel(
    cluster: Cluster,
    span: TimeRange,
    wanted: Wanted,
    *,
    forecast: ForecastLine | None = None,
    marks: Sequence[Mark] = (),
) -> Panel:
    """Two queries for each series. Of `marks` those of its series are on the chart."""
    found = [
        Line(label, history_series.history(cluster.name, subject, metric, span.start, span.end))
        for label, subject, metric in wanted.series
    ]
    lines = [line for line in found if len(line.history)]
    shown = {(subject, metric) for _, subject, metric in wanted.series}
    here = [mark for mark in marks if (mark.subject, mark.metric) in shown]
    ends = (span.start, span.end)
    drawn = charts.figure(
        lines, wanted.unit, scale=wanted.scale, peak=wanted.peak, forecast=forecast, span=ends, marks=here
    )
    findings = [charts.finding(line.history, wanted.shown, span.label) for line in lines[:1] or found[:1]]
    return Panel(
        wanted.key,
        wanted.title,
        " ".join(findings),
        drawn if lines else None,
        [line.name or "value" for line in lines],
        _rows(lines, wanted.shown),
        max((len(line.history) for line in lines), default=0),
        [
            (label, address(cluster, subject, metric, span))
            for (label, subject, metric), line in zip(wanted.series, found, strict=True)
            if len(line.history)
        ],
        [line.history for line in found],
        here,
    )


def address(cluster: Cluster, subject: str, metric: str, span: TimeRange) -> str:
    """Where a series is as CSV, over the same range."""
    given = {"since": span.preset} if span.preset else {"start": _iso(span.start), "until": _iso(span.end)}
    return f"{reverse('series-csv', args=[subject, metric])}?{urlencode({'cluster': cluster.name, **given})}"


def _rows(lines: Sequence[Line], shown: Shown) -> list[tuple[datetime, list[str]]]:
    """The latest readings of the first series, and of the others what they were at these moments."""
    if not lines:
        return []
    at = lines[0].history.at[-LATEST:]
    others = [dict(zip(line.history.at.tolist(), line.history.value.tolist(), strict=True)) for line in lines]
    return [
        (moment, [shown(values[second]) if second in values else "—" for values in others])
        for moment, second in zip(reversed(charts.datetimes(at)), reversed(at.tolist()), strict=True)
    ]


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
