"""The pages of one node and of one link: figures now and readings over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from gridportal.templatetags.units import percent, rate
from monitoring import selectors
from monitoring.charts import history
from monitoring.models import Link
from monitoring.views.spans import PRESETS, Span, SpanForm
from monitoring.views.topology import known

MOST_READINGS = 20_000
LATEST = 50


def node(request: HttpRequest, name: str, *, extra: Mapping[str, Any] | None = None) -> HttpResponse:
    """A node: its free processor now and over time, and its links."""
    cluster = known(request)
    found = selectors.nodes(cluster.name).filter(name=name).first() if cluster else None
    if cluster is None or found is None:
        raise Http404(f"No node is called {name[:80]}.")
    around = selectors.links(cluster.name)
    links = [*around.filter(source=found), *around.filter(target=found)]
    span = _span(request)
    points = _points(cluster.name, found.name, "cpu", span)
    context = {
        "cluster": cluster,
        "node": found,
        "links": sorted(links, key=lambda link: -1.0 if link.bandwidth is None else link.bandwidth / link.capacity),
        **_chart(request, span, points, percent, history.figure(points, "% free", scale=0.01)),
    }
    return render(request, "monitoring/node.html", context | dict(extra or {}))


@require_safe
def link(request: HttpRequest, source: str, target: str) -> HttpResponse:
    """A link, or one direction of it: available and peak rate now and over time."""
    cluster = known(request)
    row = _link(cluster.name, source, target) if cluster else None
    if cluster is None or row is None:
        raise Http404(f"No link goes from {source[:80]} to {target[:80]}.")
    span = _span(request)
    points = _points(cluster.name, f"{row.source.name}>{row.target.name}", "bandwidth", span)
    context = {
        "cluster": cluster,
        "link": row,
        "back": _link(cluster.name, row.target.name, row.source.name) if cluster.directed else None,
        "share": None if row.bandwidth is None else min(1.0, row.bandwidth / row.capacity),
        **_chart(request, span, points, rate, history.figure(points, "Mbit/s", scale=1e6, peak=row.capacity)),
    }
    return render(request, "monitoring/link.html", context)


def _link(cluster: str, source: str, target: str) -> Link | None:
    """The link from source to target; on a network without directions either order is the same link."""
    rows = selectors.links(cluster)
    there = rows.filter(source__name=source, target__name=target).first()
    if there is not None or rows.filter(cluster__directed=True).exists():
        return there
    return rows.filter(source__name=target, target__name=source).first()


def _span(request: HttpRequest) -> Span:
    return SpanForm(request.GET).span(request.GET.get("since", ""), timezone.now())


def _points(cluster: str, subject: str, metric: str, span: Span) -> list[history.Point]:
    rows = selectors.readings(cluster, subject, metric, span.start).filter(at__lte=span.end)
    newest = rows.order_by("-at").values_list("at", "value")[:MOST_READINGS]
    return list(newest)[::-1]


def _chart(
    request: HttpRequest, span: Span, points: Sequence[history.Point], shown: Any, figure: dict[str, Any]
) -> dict[str, Any]:
    return {
        "span": span,
        "span_form": SpanForm(request.GET),
        "presets": [(name, words) for name, (words, _) in PRESETS.items()],
        "finding": history.finding(points, shown, span.words),
        "figure": figure if points else None,
        "latest": [(at, shown(value)) for at, value in reversed(points[-LATEST:])],
        "reading_count": len(points),
    }
