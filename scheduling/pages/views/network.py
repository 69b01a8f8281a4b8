"""Pages of the network that also show what jobs hold of it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from monitoring.status.charts.network_map import Marked
from monitoring.status.selectors.node_traffic import NodeUsers
from monitoring.status.views import links, nodes
from monitoring.status.views import topology as map_page
from monitoring.status.views.panels import span_of
from scheduling.alerts.selectors import alert_rows
from scheduling.jobs.models import Job
from scheduling.pages import selectors
from scheduling.pages.charts import placement_map
from scheduling.pages.views.job import visible_job
from scheduling.placing.selectors import rooms
from scheduling.placing.selectors.trial_stories import last_placement

_SHOWN, _LOOKED_AT = 15, 300


@require_safe
def topology(request: HttpRequest) -> HttpResponse:
    """The map; `?job=` highlights the nodes of a job, the pairs that talk and its bottleneck, `?beside=2` the second
    candidate group beside it."""
    number = request.GET.get("job", "")
    marked, extra = Marked(), {}
    if number.isascii() and number.isdigit() and len(number) < 18:
        if not Job.objects.filter(pk=int(number)).exists():
            raise Http404(f"There is no job {number}.")
        job = visible_job(request, int(number))
        placement = last_placement(job)
        beside = placement_map.beside(placement, request.GET.get("beside", ""))
        marked = placement_map.marked(placement, beside, job.cluster)
        extra = {"shown_job": job, "placement": placement, "beside": beside}
    return map_page.page(request, marked=marked, held=_held(request), extra=extra)


@require_safe
def node(request: HttpRequest, name: str) -> HttpResponse:
    """One node, which job holds it, which jobs of those that the person may see ran on it, and what each takes."""
    cluster = map_page.requested_cluster(request)
    jobs = _jobs_on(request, cluster.name, name) if cluster else []
    owners = _owners(cluster.name) if cluster else {}
    over = rooms.ended_runs(cluster.name) if cluster else frozenset()
    span = span_of(request)
    marks = alert_rows.marks(cluster.name, name, span.start, span.end) if cluster else []
    holder = _held(request).get(name)
    extra = {"holder": holder, "jobs": jobs}
    return nodes.node(request, name, users=NodeUsers(owners, over, holder), extra=extra, marks=marks)


@require_safe
def link(request: HttpRequest, source: str, target: str) -> HttpResponse:
    """One link or path, with the alerts about it on its charts."""
    cluster, span = map_page.requested_cluster(request), span_of(request)
    marks = alert_rows.marks(cluster.name, f"{source}>{target}", span.start, span.end) if cluster else []
    return links.link(request, source, target, marks=marks)


def _jobs_on(request: HttpRequest, cluster: str, node: str) -> list[tuple[Job, int]]:
    """The latest jobs with the first of their ranks on the node."""
    visible = selectors.jobs_visible_to(caller(request)).filter(cluster=cluster, runs__isnull=False)
    latest = visible.order_by("-pk").distinct()[:_LOOKED_AT]
    chosen = [(job, job.chosen_nodes or []) for job in latest]  # type: ignore[attr-defined]  # the selector sets it
    found = [(job, nodes.index(node)) for job, nodes in chosen if node in nodes]
    return found[:_SHOWN]


def _owners(cluster: str) -> dict[str, int]:
    """Which job each run is of that may still be there, by its name on the cluster."""
    rows = rooms.open_runs(cluster).values_list("backend_id", "key", "job_id")
    return {name: job for backend_id, key, job in rows for name in (backend_id, key) if name}


def _held(request: HttpRequest) -> dict[str, int]:
    cluster = map_page.requested_cluster(request)
    return rooms.holders(cluster.name) if cluster else {}
