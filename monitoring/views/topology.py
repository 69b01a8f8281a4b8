"""The map of a cluster, its heat map, and the same facts as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from gridportal.accounts.services import Subject, audit
from gridportal.templatetags.units import percent, rate, step_of
from monitoring import selectors, tasks
from monitoring.charts import matrix, network
from monitoring.charts.network import Marked, Spot, Wire
from monitoring.models import Cluster, Link, Node

PER_PAGE = 100
WORST_FIRST = "share"
LINK_SORTS = {
    "source": lambda link: (link.source.position, link.target.position),
    "target": lambda link: (link.target.position, link.source.position),
    "capacity": lambda link: link.capacity,
    "bandwidth": lambda link: -1.0 if link.bandwidth is None else link.bandwidth,
    "share": lambda link: -1.0 if link.bandwidth is None else link.bandwidth / link.capacity,
    "latency": lambda link: -1.0 if link.latency is None else link.latency,
}


def page(
    request: HttpRequest, *, marked: Marked, held: Mapping[str, int], extra: Mapping[str, Any] | None = None
) -> HttpResponse:
    """The topology page of `?cluster=`; `held` says which job holds a node, `marked` what to highlight."""
    cluster = known(request)
    live = getattr(request, "htmx", False)
    if cluster is None:
        return render(request, "monitoring/topology_none.html")
    context = _facts(request, cluster, marked, held) | dict(extra or {})
    return render(request, "monitoring/_topology_live.html" if live else "monitoring/topology.html", context)


def known(request: HttpRequest) -> Cluster | None:
    """The cluster in the address; the only one, or none, when there is no such word. 404 for a name that is not."""
    name = request.GET.get("cluster", "")
    found = Cluster.objects.filter(name=name).first() if name else Cluster.objects.order_by("pk").first()
    if name and found is None:
        raise Http404(f"No cluster is called {name[:60]}.")
    return found


@require_POST
def measure(request: HttpRequest) -> HttpResponse:
    """Ask for a sweep over the network now; a worker does it."""
    if not request.user.has_perm("monitoring.measure_network"):  # type: ignore[union-attr]
        raise PermissionDenied("Operators and administrators have the network measured.")
    name = request.POST.get("cluster", "")
    if not Cluster.objects.filter(name=name).exists():
        raise Http404("No cluster has this name.")
    audit(request.user, "network.measure", Subject("cluster", name, name), request=request)
    tasks.measure_network.delay_on_commit(name, 0)
    messages.success(request, f"{name} is being measured; the figures change here as soon as it is done.")
    return redirect(f"{reverse('topology')}?cluster={name}")


def _facts(request: HttpRequest, cluster: Cluster, marked: Marked, held: Mapping[str, int]) -> dict[str, Any]:
    nodes, links = list(selectors.nodes(cluster.name)), list(selectors.links(cluster.name))
    sort = request.GET.get("sort", WORST_FIRST)
    lines = network.wires(links)
    return {
        "cluster": cluster,
        "node_page": Paginator(_sought(nodes, request), PER_PAGE).get_page(request.GET.get("nodes")),
        "page": Paginator(_sorted(links, sort), PER_PAGE).get_page(request.GET.get("page")),
        "sort": sort,
        "held": held,
        "marked": marked,
        "compute_count": sum(1 for node in nodes if node.kind == "compute"),
        "network_count": sum(1 for node in nodes if node.kind == "network"),
        "link_count": len(links),
        "finding": network.finding(lines, cluster.kind),
        **_pictures(cluster, nodes, links, lines, marked, held),
    }


def _pictures(
    cluster: Cluster, nodes: list[Node], links: list[Link], lines: list[Wire], marked: Marked, held: Mapping[str, int]
) -> dict[str, Any]:
    """The figures while they can be read; a summary of steps when there is too much to draw."""
    spots = [Spot(node.name, node.kind, node.cpu) for node in nodes]
    shown: dict[str, Any] = {"steps": _steps(lines)}
    if 0 < len(spots) <= network.MOST_NODES and len(lines) <= network.MOST_LINES:
        at = network.places(cluster.kind, spots, lines)
        shown |= {
            "map": network.figure(spots, lines, at, marked),
            "map_facts": _details(cluster.name, nodes, lines, at, held),
        }
    if cluster.kind == "pairs" and 1 < len(spots) <= matrix.MOST_NODES:
        shown["matrix"] = matrix.figure([node.name for node in nodes if node.kind == "compute"], links)
        shown["matrix_names"] = len(spots)
    return shown


def _steps(lines: list[Wire]) -> list[dict[str, Any]]:
    """How many paths are in each fifth of their peak."""
    counts = [0] * 5
    for wire in lines:
        if wire.share is not None:
            counts[step_of(wire.share)] += 1
    total = max(1, sum(counts))
    return [
        {"step": i, "from": i * 20, "to": i * 20 + 20, "count": count, "percent": round(100 * count / total, 1)}
        for i, count in enumerate(counts)
    ]


def _details(
    cluster: str, nodes: list[Node], lines: list[Wire], at: Mapping[str, tuple[float, float]], held: Mapping[str, int]
) -> dict[str, Any]:
    """What a click on the map shows, by the name of the node or `a>b` of the link."""
    found: dict[str, Any] = {}
    for node in nodes:
        rows = [["kind", node.get_kind_display()], ["speed", f"{node.speed:g}"]]
        if node.kind == "compute":
            rows += [["processor free", percent(node.cpu)], ["held by", _holder(held, node.name)]]
        rows += [[name, str(value)] for name, value in node.labels.items()]
        if node.closed or node.busy:
            rows.append(["closed" if node.closed else "busy", node.closed or _until(node)])
        href = f"{reverse('node', args=[node.name])}?cluster={cluster}"
        found[node.name] = {"title": node.name, "href": href, "rows": rows, "at": at[node.name]}
    for wire in lines:
        rows = [["available", rate(wire.bandwidth)], ["peak", rate(wire.capacity)], ["share", percent(wire.share)]]
        href = f"{reverse('link', args=[wire.a, wire.b])}?cluster={cluster}"
        found[f"{wire.a}>{wire.b}"] = {"title": f"{wire.a}–{wire.b}", "href": href, "rows": rows}
    return found


def _until(node: Node) -> str:
    return f"until {node.free_at:%d %B %H:%M} UTC at most" if node.free_at else "by a job that the cluster runs"


def _holder(held: Mapping[str, int], name: str) -> str:
    return f"job {held[name]}" if name in held else "no job"


def _sought(nodes: list[Node], request: HttpRequest) -> list[Node]:
    text = request.GET.get("q", "").strip().lower()
    return [node for node in nodes if text in node.name.lower()] if text else nodes


def _sorted(links: list[Link], wanted: str) -> list[Link]:
    key = LINK_SORTS.get(wanted.removeprefix("-"), LINK_SORTS[WORST_FIRST])
    return sorted(links, key=key, reverse=wanted.startswith("-"))  # type: ignore[no-untyped-call]
