"""The page of one node: its figures now, its jobs, its links and interfaces, and all of it over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from gridportal.web.templatetags.units import percent, rate, size
from monitoring.clusters import selectors as clusters_selectors
from monitoring.clusters.models import Cluster
from monitoring.history.charts.history import Mark
from monitoring.history.core.samples import Live, Series
from monitoring.history.selectors import series as history_series
from monitoring.status.selectors.health import reason
from monitoring.status.selectors.node_traffic import Interface, NodeUsers, interfaces_of, others_on, runs_on
from monitoring.status.selectors.picture import NodeFigures, picture, too_old
from monitoring.status.views.node_devices import device_charts
from monitoring.status.views.panels import Wanted, panel, ranges, span_of
from monitoring.status.views.topology import requested_cluster
from monitoring.telemetry import selectors
from monitoring.telemetry.selectors import MISSED
from monitoring.telemetry.services.agents import has_agents


def _two(value: float) -> str:
    return f"{value:.2f}"


#: Figures of a node: label, metric, how its value is written, and the metric of the whole of which it is a part.
_FIGURES = (
    ("Processor free", "cpu", percent, ""),
    ("Load", "load", _two, ""),
    ("Load of the portal's jobs", "load_runs", _two, ""),
    ("Memory free", "memory_free", size, "memory_total"),
    ("Disk free", "disk_free", size, "disk_total"),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One figure of a node as its page shows it. `source`: who measured it, "" where that is not known."""

    label: str
    value: str
    at: datetime | None
    source: str
    stale: bool


@dataclass(frozen=True, slots=True)
class SilentAgent:
    """When the agent of a node last answered, None for never, and what is known of why it does not."""

    at: datetime | None
    why: str


def node(
    request: HttpRequest,
    name: str,
    *,
    users: NodeUsers,
    extra: Mapping[str, Any] | None = None,
    marks: Sequence[Mark] = (),
) -> HttpResponse:
    """A node. `users`: which jobs use it, as far as that is known; `marks`: what its charts show besides."""
    cluster = requested_cluster(request)
    shown = picture(cluster) if cluster else None
    found = next((row for row in shown.nodes if row.name == name), None) if shown else None
    if cluster is None or shown is None or found is None:
        raise Http404(f"No node is called {name[:80]}.")
    live, span = history_series.live(cluster.name), span_of(request)
    oldest = timezone.now().timestamp() - MISSED * settings.PORTAL.collect_every
    runs, interfaces = runs_on(name, live, users, oldest), interfaces_of(name, live)
    links = [link for link in shown.links if name in (link.source, link.target)]
    context = {
        "cluster": cluster,
        "node": found,
        "links": sorted(links, key=lambda link: -1.0 if link.share is None else link.share),
        "figures": _figures(found, live),
        "silent": _silent(cluster, name, live),
        "runs": runs,
        "others": others_on(name, live, runs, interfaces) if runs else None,
        "interfaces": interfaces,
        "panels": [panel(cluster, span, wanted, marks=marks) for wanted in _wanted(found, live, interfaces)],
        **ranges(request, span),
    }
    return render(request, "monitoring/node.html", context | dict(extra or {}))


def _figures(node: NodeFigures, live: Mapping[Series, Live]) -> list[Shown]:
    """The newest of each, with when and from where; what was not measured is not there."""
    rows = []
    for label, metric, shown, whole in _FIGURES:
        newest, total = live.get((node.name, metric)), live.get((node.name, whole))
        if newest is not None:
            value = shown(newest.value) + (f" of {size(total.value)}" if total else "")
            at = datetime.fromtimestamp(newest.at, UTC)
            rows.append(Shown(label, value, at, newest.source, too_old(at)))
    if not rows and node.cpu is not None:
        rows.append(Shown("Processor free", percent(node.cpu), node.measured_at, "", node.stale))
    return rows


def _silent(cluster: Cluster, name: str, live: Mapping[Series, Live]) -> SilentAgent | None:
    """None while the agent of the node answers, or the cluster has none."""
    up, heard = live.get((name, "agent_up")), live.get((name, "clock_offset"))
    setting = clusters_selectors.configured().get(cluster.name)
    if up is None or setting is None or not has_agents(setting):
        return None
    if up.value and timezone.now().timestamp() - up.at <= MISSED * settings.PORTAL.collect_every:
        return None
    why = next((reason(row) for row in selectors.sources(cluster.name) if row.kind == "agent"), "")
    return SilentAgent(datetime.fromtimestamp(heard.at, UTC) if heard else None, why.rstrip("."))


def _wanted(node: NodeFigures, live: Mapping[Series, Live], interfaces: Sequence[Interface]) -> list[Wanted]:
    """The charts that there is anything for; of a compute node the processor in any case."""
    name = node.name
    total = {metric: live[(name, metric)].value for metric in ("memory_total", "disk_total") if (name, metric) in live}
    charts = []
    if node.kind == "compute":
        charts.append(Wanted("cpu", "Processor free", [("free", name, "cpu")], "% free", percent, 0.01))
    if (name, "load") in live:
        series = [("load", name, "load"), ("of the portal's jobs", name, "load_runs")]
        charts.append(Wanted("load", "Load", [one for one in series if one[1:] in live], "processes", _two))
    for key, label, whole in (("memory_free", "Memory free", "memory_total"), ("disk_free", "Disk free", "disk_total")):
        if (name, key) in live:
            peak = total.get(whole)
            charts.append(Wanted(key, label, [("free", name, key)], "GB", size, 1e9, peak))
    for interface in interfaces:
        subject = f"{name}:{interface.name}"
        series = [("sent", subject, "tx"), ("received", subject, "rx")]
        here = [one for one in series if one[1:] in live]
        charts.append(Wanted(f"if-{len(charts)}", f"Traffic of {interface.name}", here, "Mbit/s", rate, 1e6))
    return [*charts, *device_charts(name, live)]
