"""The page of one node: its figures now, its jobs, its links and interfaces, and all of it over time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from gridportal.web.templatetags.units import percent, rate, size
from monitoring.clusters import selectors as clusters_selectors
from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import Live, Series
from monitoring.history.selectors import series as history_series
from monitoring.status.selectors.health import reason
from monitoring.status.selectors.picture import NodeFigures, picture, too_old
from monitoring.status.views.panels import Wanted, panel, ranges, span_of
from monitoring.status.views.topology import known
from monitoring.telemetry import selectors
from monitoring.telemetry.selectors import MISSED
from monitoring.telemetry.services.agents import has_agents

_TAKEN = ("load", "tx", "rx")


def node(
    request: HttpRequest, name: str, *, owners: Mapping[str, int] | None = None, extra: Mapping[str, Any] | None = None
) -> HttpResponse:
    """A node. `owners`: which job a run is of, by the run's name; other runs are shown without a link."""
    cluster = known(request)
    shown = picture(cluster) if cluster else None
    found = next((row for row in shown.nodes if row.name == name), None) if shown else None
    if cluster is None or shown is None or found is None:
        raise Http404(f"No node is called {name[:80]}.")
    live, span = history_series.live(cluster.name), span_of(request)
    links = [link for link in shown.links if name in (link.source, link.target)]
    context = {
        "cluster": cluster,
        "node": found,
        "links": sorted(links, key=lambda link: -1.0 if link.share is None else link.share),
        "figures": _figures(found, live),
        "silent": _silent(cluster, name, live),
        "runs": (runs := _runs(name, live, owners or {})),
        "others": _others(name, live, runs) if runs else None,
        "interfaces": _interfaces(name, live),
        "panels": [panel(cluster, span, wanted) for wanted in _wanted(cluster, found, live)],
        **ranges(request, span),
    }
    return render(request, "monitoring/node.html", context | dict(extra or {}))


def _figures(node: NodeFigures, live: Mapping[Series, Live]) -> list[dict[str, Any]]:
    """The newest of each, with when and from where; what was not measured is not there."""
    rows = []
    for words, metric, shown, whole in (
        ("Processor free", "cpu", percent, None),
        ("Load", "load", _two, None),
        ("Load of the portal's jobs", "load_runs", _two, None),
        ("Memory free", "memory_free", size, "memory_total"),
        ("Disk free", "disk_free", size, "disk_total"),
    ):
        found, total = live.get((node.name, metric)), live.get((node.name, whole or ""))
        if found is not None:
            value = shown(found.value) + (f" of {size(total.value)}" if total else "")
            at = datetime.fromtimestamp(found.at, UTC)
            rows.append({"words": words, "value": value, "at": at, "source": found.source, "stale": too_old(at)})
    if not rows and node.cpu is not None:
        told = {"at": node.measured_at, "source": "", "stale": node.stale}
        rows.append({"words": "Processor free", "value": percent(node.cpu), **told})
    return rows


def _silent(cluster: Cluster, name: str, live: Mapping[Series, Live]) -> dict[str, Any] | None:
    """When the agent of a node last answered, and what is told of its source; None while it answers, or has none."""
    up, heard = live.get((name, "agent_up")), live.get((name, "clock_offset"))
    setting = clusters_selectors.configured().get(cluster.name)
    if up is None or setting is None or not has_agents(setting):
        return None
    if up.value and timezone.now().timestamp() - up.at <= MISSED * settings.PORTAL.collect_every:
        return None
    why = next((reason(row) for row in selectors.sources(cluster.name) if row.kind == "agent"), "")
    return {"at": datetime.fromtimestamp(heard.at, UTC) if heard else None, "why": why.rstrip(".")}


def _runs(name: str, live: Mapping[Series, Live], owners: Mapping[str, int]) -> list[dict[str, Any]]:
    """What each run that the agent sees takes of the node; runs that it no longer tells of are over."""
    oldest = timezone.now() - timedelta(seconds=MISSED * settings.PORTAL.collect_every)
    found: dict[str, dict[str, Any]] = {}
    for (subject, metric), one in live.items():
        node, at_sign, run = subject.partition("@")
        if node == name and at_sign and one.at >= oldest.timestamp():
            about = {"name": run, "job": owners.get(run), "at": datetime.fromtimestamp(one.at, UTC)}
            row = found.setdefault(run, about | dict.fromkeys(_TAKEN))
            row[metric] = one.value
    return [found[run] for run in sorted(found) if found[run]["job"] or _takes(found[run])]


def _takes(run: Mapping[str, Any]) -> bool:
    """Whether a run that is over for the portal still takes anything: an agent tells of it until its group is gone."""
    return (run["load"] or 0.0) >= 0.005 or (run["tx"] or 0.0) + (run["rx"] or 0.0) >= 1e4


def _others(name: str, live: Mapping[Series, Live], runs: list[dict[str, Any]]) -> dict[str, float | None]:
    """What the node carries beside the runs: of the load, and of the traffic of all its interfaces; None: not known."""
    carried: dict[str, list[float]] = {"load": [live[name, "load"].value] if (name, "load") in live else []}
    for metric in ("tx", "rx"):
        carried[metric] = [row[metric] for row in _interfaces(name, live) if row[metric] is not None]
    return {
        metric: max(0.0, sum(whole) - sum(run[metric] or 0.0 for run in runs)) if whole else None
        for metric, whole in carried.items()
    }


def _interfaces(name: str, live: Mapping[Series, Live]) -> list[dict[str, Any]]:
    """Counted traffic of each interface."""
    found: dict[str, dict[str, Any]] = {}
    for (subject, metric), one in live.items():
        node, colon, interface = subject.partition(":")
        if node == name and colon and metric in ("tx", "rx"):
            at = datetime.fromtimestamp(one.at, UTC)
            about = {"name": interface, "at": at, "stale": too_old(at), "source": one.source}
            row = found.setdefault(interface, about | dict.fromkeys(("tx", "rx")))
            row[metric] = one.value
    return [found[interface] for interface in sorted(found)]


def _wanted(cluster: Cluster, node: NodeFigures, live: Mapping[Series, Live]) -> list[Wanted]:
    """The charts that there is anything for; of a compute node the processor in any case."""
    name = node.name
    total = {metric: live[(name, metric)].value for metric in ("memory_total", "disk_total") if (name, metric) in live}
    charts = []
    if node.kind == "compute":
        charts.append(Wanted("cpu", "Processor free", [("free", name, "cpu")], "% free", percent, 0.01))
    if (name, "load") in live:
        series = [("load", name, "load"), ("of the portal's jobs", name, "load_runs")]
        charts.append(Wanted("load", "Load", [one for one in series if one[1:] in live], "processes", _two))
    for key, words, whole in (("memory_free", "Memory free", "memory_total"), ("disk_free", "Disk free", "disk_total")):
        if (name, key) in live:
            peak = total.get(whole)
            charts.append(Wanted(key, words, [("free", name, key)], "GB", size, 1e9, peak))
    for row in _interfaces(name, live):
        subject = f"{name}:{row['name']}"
        series = [("sent", subject, "tx"), ("received", subject, "rx")]
        here = [one for one in series if one[1:] in live]
        charts.append(Wanted(f"if-{len(charts)}", f"Traffic of {row['name']}", here, "Mbit/s", rate, 1e6))
    return charts


def _two(value: float) -> str:
    return f"{value:.2f}"
