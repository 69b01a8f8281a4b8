"""Any series as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from gridportal.base.errors import InputError
from gridportal.web.csv_stream import csv_response
from monitoring.history.charts.history import datetimes
from monitoring.history.core.samples import History
from monitoring.history.selectors import series
from monitoring.status.views.panels import span_of
from monitoring.status.views.time_ranges import TimeRangeForm
from monitoring.status.views.topology import requested_cluster

_HEAD = ("at", "value", "low", "high")


@require_safe
def series_csv(request: HttpRequest, subject: str, metric: str) -> HttpResponseBase:
    """A series over the range in the address: moment, value, lowest and highest, in basic units (bit/s,
    bytes, seconds, fractions). `resolution`: raw, minute, hour; else what fits the range."""
    cluster = requested_cluster(request)
    if cluster is None or (subject, metric) not in series.live(cluster.name):
        raise Http404(f"Nothing was ever recorded of {metric[:30]} of {subject[:80]}.")
    if message := TimeRangeForm(request.GET).error_message():
        return _refused(message)
    span = span_of(request)
    try:
        found = series.history(
            cluster.name, subject, metric, span.start, span.end, resolution=request.GET.get("resolution") or "auto"
        )
    except InputError as error:
        return _refused(str(error))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{cluster.name}-{subject}-{metric}")
    return csv_response(f"{name}.csv", _HEAD, _rows(found))


def _refused(why: str) -> HttpResponse:
    return HttpResponse(f"{why}\n", status=400, content_type="text/plain; charset=utf-8")


def _rows(found: History) -> Iterator[list[str]]:
    for moment, *values in zip(datetimes(found.at), found.value, found.low, found.high, strict=True):
        yield [moment.isoformat(timespec="milliseconds"), *(repr(float(value)) for value in values)]
