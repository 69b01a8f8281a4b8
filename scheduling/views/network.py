"""Pages of the network that also show what jobs hold of it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from monitoring.charts.network import Marked
from monitoring.views import subjects
from monitoring.views import topology as map_page
from scheduling import selectors
from scheduling.models import Placement
from scheduling.views.job import visible_job


@require_safe
def topology(request: HttpRequest) -> HttpResponse:
    """The map; `?job=` highlights the nodes and the bottleneck of a job."""
    number = request.GET.get("job", "")
    marked, extra = Marked(), {}
    if number.isascii() and number.isdigit() and len(number) < 18:
        job = visible_job(request, int(number))
        placement = job.placements.order_by("-pk").first()
        marked, extra = _marked(placement), {"shown_job": job, "placement": placement}
    return map_page.page(request, marked=marked, held=_held(request), extra=extra)


@require_safe
def node(request: HttpRequest, name: str) -> HttpResponse:
    """One node, and which job holds it."""
    return subjects.node(request, name, extra={"holder": _held(request).get(name)})


def _held(request: HttpRequest) -> dict[str, int]:
    cluster = map_page.known(request)
    return selectors.holders(cluster.name) if cluster else {}


def _marked(placement: Placement | None) -> Marked:
    if placement is None:
        return Marked()
    worst = placement.bottleneck or {}
    link = worst.get("link") or worst
    return Marked(tuple(placement.nodes), frozenset((link["source"], link["target"])) if link else frozenset())
