"""The map of a cluster, its heat map, and the same facts as tables: live, or at a moment of the past."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.services import Subject, audit
from gridportal.base.time_presets import PRESETS
from gridportal.web.result_messages import add_result
from gridportal.web.sorting import sorted_by
from gridportal.web.templatetags.state_marks import step_of
from monitoring import tasks
from monitoring.clusters import selectors
from monitoring.clusters.models import Cluster
from monitoring.status.charts import matrix, network_map
from monitoring.status.charts.network_map import Marked, Spot, Wire
from monitoring.status.selectors.picture import LinkFigures, NodeFigures, Picture, picture
from monitoring.status.views import facts, flows
from monitoring.status.views.measurements import asked_measurement
from monitoring.status.views.time_ranges import TimeRangeForm
from monitoring.status.views.timestamps import MomentForm, slider

PER_PAGE = 100
WORST_FIRST = "share"
_LIVE, _LIVE_LARGE, _LARGE = 5000, 20000, 400
LINK_SORTS: dict[str, Callable[[LinkFigures], Any]] = {
    "source": lambda link: (link.source, link.target),
    "target": lambda link: (link.target, link.source),
    "capacity": lambda link: link.capacity,
    "bandwidth": lambda link: link.bandwidth,
    "share": lambda link: link.share,
    "used": lambda link: link.used,
    "forecast": lambda link: link.forecast,
    "latency": lambda link: link.latency,
    "measured": lambda link: link.measured_at,
}
NODE_SORTS: dict[str, Callable[[NodeFigures], Any]] = {
    "name": lambda node: node.name,
    "kind": lambda node: node.kind,
    "cpu": lambda node: node.cpu,
    "forecast": lambda node: node.forecast,
    "load": lambda node: node.load,
    "load_runs": lambda node: node.load_runs,
    "speed": lambda node: node.speed,
    "age": lambda node: node.measured_at,
}


def page(
    request: HttpRequest, *, marked: Marked, held: Mapping[str, int], extra: Mapping[str, Any] | None = None
) -> HttpResponse:
    """The topology page of `?cluster=`; `held` says which job holds a node, `marked` what to highlight."""
    if usual := usual_view(request, "topology"):
        return usual
    cluster = requested_cluster(request)
    if cluster is None:
        return render(request, "monitoring/topology_none.html")
    now, form = timezone.now(), MomentForm(request.GET)
    at = form.moment(now)
    shown = picture(cluster, at)
    context = {
        **_facts(request, shown, marked, {} if at else held),
        "moment_form": form,
        "measurement": asked_measurement(request.GET, cluster, now),
        "span_form": TimeRangeForm(request.GET),
        "slider": slider(request.GET, at, now),
        "presets": [(name, label) for name, (label, _) in PRESETS.items()],
        "live_every": _LIVE if len(shown.nodes) <= _LARGE else _LIVE_LARGE,
        **list_context(request, "topology"),
        **dict(extra or {}),
    }
    if getattr(request, "htmx", False):
        return render(request, "monitoring/_topology_live.html", context)
    return render(request, "monitoring/topology.html", context | flows.panel(request, cluster))


@require_safe
def fact(request: HttpRequest) -> JsonResponse:
    """The figures of `?of=`, a node or a link a>b: what a click shows where a page with all of them would be large."""
    cluster, name = requested_cluster(request), request.GET.get("of", "")
    if cluster is None:
        raise Http404("No cluster is known yet.")
    shown = picture(cluster, MomentForm(request.GET).moment(timezone.now()))
    nodes = [node for node in shown.nodes if node.name == name]
    lines = [line for line in network_map.wires(shown.links) if name in (f"{line.a}>{line.b}", f"{line.b}>{line.a}")]
    found = facts.of_nodes(cluster.name, nodes, {}) | facts.of_links(cluster.name, lines, shown.links)
    if not found:
        raise Http404(f"No node or link is called {name[:80]}.")
    return JsonResponse(next(iter(found.values())))


def requested_cluster(request: HttpRequest) -> Cluster | None:
    """The cluster in the address; the only one, or none, when there is no such word. 404 for a name that is not."""
    name = request.GET.get("cluster", "")
    row = selectors.cluster(name) if name else Cluster.objects.order_by("pk").first()
    if name and row is None:
        raise Http404(f"No cluster is called {name[:60]}.")
    return row


@require_POST
def measure(request: HttpRequest) -> HttpResponse:
    """Ask for a sweep over the network now; a worker does it."""
    if not request.user.has_perm("monitoring.measure_network"):
        raise PermissionDenied("Operators and administrators have the network measured.")
    name = request.POST.get("cluster", "")
    if selectors.cluster(name) is None:
        raise Http404("No cluster has this name.")
    audit(caller(request), "network.measure", Subject("cluster", name, name), request=request)
    asked = timezone.now()
    tasks.measure_network.delay_on_commit(name, 0)
    address = f"{reverse('topology')}?{urlencode({'cluster': name, 'asked': asked.isoformat()})}"
    add_result(request, f"The network of {name}", address, "is being measured. This page says when it has ended.")
    return redirect(address)


def _facts(request: HttpRequest, shown: Picture, marked: Marked, held: Mapping[str, int]) -> dict[str, Any]:
    sort = request.GET.get("sort", WORST_FIRST)
    if not shown.cluster.traits.has_network:
        shown = replace(shown, nodes=[node for node in shown.nodes if node.kind == "compute"], links=[])
    lines = network_map.wires(shown.links)
    return {
        "cluster": shown.cluster,
        "at": shown.at,
        "node_page": Paginator(_nodes(shown, request, held), PER_PAGE).get_page(request.GET.get("nodes")),
        "node_sort": request.GET.get("node_sort", ""),
        "page": Paginator(_sorted(shown.links, sort), PER_PAGE).get_page(request.GET.get("page")),
        "sort": sort,
        "held": held,
        "marked": marked,
        "compute_count": sum(1 for node in shown.nodes if node.kind == "compute"),
        "network_count": sum(1 for node in shown.nodes if node.kind == "network"),
        "link_count": len(shown.links),
        "unknown": _unknown(request, shown, lines),
        "finding": network_map.finding(lines, shown.cluster.kind, past=shown.at is not None),
        **_pictures(shown, lines, marked, held),
    }


def _pictures(shown: Picture, lines: list[Wire], marked: Marked, held: Mapping[str, int]) -> dict[str, Any]:
    """The figures while they can be read; a summary of steps when there is too much to draw."""
    kind, name = shown.cluster.kind, shown.cluster.name
    spots = [Spot(node.name, node.kind, node.cpu) for node in shown.nodes]
    found: dict[str, Any] = {"steps": _steps(lines)}
    seen = network_map.drawn(lines, kind, marked)
    if 0 < len(spots) <= network_map.MOST_NODES and len(seen) <= network_map.MOST_LINES:
        at = network_map.places(kind, spots, seen)
        few = len(spots) + len(seen) <= network_map.MOST_HOVERED
        nodes, links = facts.of_nodes(name, shown.nodes, held), facts.of_links(name, seen, shown.links)
        facts_by_name = {name: {**fact, "at": at.get(name)} for name, fact in (nodes | links).items()} if few else {}
        found |= {
            "map": network_map.figure(spots, seen, at, marked, facts.hover_texts(facts_by_name)),
            "map_facts": facts_by_name or {spot.name: {"at": at[spot.name]} for spot in spots},
            "left_out": len(lines) - len(seen),
        }
    compute = [node.name for node in shown.nodes if node.kind == "compute"]
    has_bandwidth = any(link.bandwidth is not None for link in shown.links)
    if has_bandwidth and kind == "pairs" and 1 < len(spots) <= matrix.MOST_NODES:
        found |= {"matrix": matrix.figure(compute, shown.links), "matrix_names": len(spots)}
    return found


@dataclass(frozen=True, slots=True)
class _Fifth:
    """How many paths have between `least` and `most` percent of their peak in use. `step`: its colour on the map;
    `percent`: its part of all the paths."""

    step: int
    least: int
    most: int
    count: int
    percent: float


def _steps(lines: list[Wire]) -> list[_Fifth]:
    """How many paths have each fifth of their peak in use."""
    counts = [0] * 5
    for wire in lines:
        if wire.share is not None:
            counts[4 - step_of(wire.share)] += 1
    total = max(1, sum(counts))
    return [
        _Fifth(4 - place, place * 20, place * 20 + 20, count, round(100 * count / total, 1))
        for place, count in enumerate(counts)
    ]


def _unknown(request: HttpRequest, shown: Picture, lines: list[Wire]) -> str:
    """What to say of a node or link that the address names and the cluster does not have; empty where it has both. The
    beginning of a node's name will do."""
    node, link = request.GET.get("node", ""), request.GET.get("link", "")
    if node and not any(each.name.lower().startswith(node.lower()) for each in shown.nodes):
        return f"There is no node {node[:80]} here."
    ends = {name for line in lines for name in (f"{line.a}>{line.b}", f"{line.b}>{line.a}")}
    return f"There is no link {link[:80]} here." if link and link not in ends else ""


def _nodes(shown: Picture, request: HttpRequest, held: Mapping[str, int]) -> list[NodeFigures]:
    """Those that `?q=` asks for, as `?node_sort=` says; in the cluster's own order without. `held`: by which job."""
    text = request.GET.get("q", "").strip().lower()
    found = [node for node in shown.nodes if text in node.name.lower()]
    return sorted_by(found, request.GET.get("node_sort", ""), {**NODE_SORTS, "held": lambda node: held.get(node.name)})


def _sorted(links: list[LinkFigures], wanted: str) -> list[LinkFigures]:
    return sorted_by(links, wanted if wanted.removeprefix("-") in LINK_SORTS else WORST_FIRST, LINK_SORTS)
