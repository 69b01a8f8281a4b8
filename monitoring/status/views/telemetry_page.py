"""How telemetry goes: sources, what probing costs, what the store takes."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.testbed.job_rights import rights
from gridportal.testbed.sandbox.level import Isolation
from gridportal.web.templatetags.units import duration
from monitoring.clusters.models import Cluster
from monitoring.status.selectors.health import Health, health, reason
from monitoring.status.views.topology import requested_cluster

SHOWN = 20


@require_safe
def telemetry(request: HttpRequest) -> HttpResponse:
    """The telemetry of `?cluster=`; its parts follow by themselves."""
    cluster = requested_cluster(request)
    if cluster is None:
        return render(request, "monitoring/telemetry_none.html")
    state = health(cluster)
    context = {
        "cluster": cluster,
        "health": state,
        "finding": finding(state),
        "rows": [(source, reason(source)) for source in state.sources],
        "costs": [(cost, cost.share / state.bound) for cost in state.costs[:SHOWN]],
        "rights": _rights(request, cluster),
        "total_bytes": sum(source.total_bytes for source in state.sources),
        "total_samples": sum(source.samples for source in state.sources),
    }
    return render(request, "monitoring/telemetry.html", context)


def _rights(request: HttpRequest, cluster: Cluster) -> list[tuple[str, str]]:
    """What a job may do there, for administrators; of a Grid as it said last."""
    setting = settings.CLUSTERS.get(cluster.name)
    if setting is None or getattr(request.user, "role", "") != "administrator":
        return []
    isolation = str(cluster.facts.get("isolation") or Isolation.UNTESTED)
    level = Isolation(isolation) if isolation in list(Isolation) else Isolation.UNTESTED
    return rights(setting, level, cluster.facts.get("node_limits"), cluster.mode)


def finding(state: Health) -> str:
    """One sentence: whether all sources answer."""
    if not state.sources:
        return "No source was asked yet; the worker asks them all within a minute of its start."
    stale = state.stale
    if not stale:
        oldest, count = duration(max(source.age or 0.0 for source in state.sources)), len(state.sources)
        return f"All {count} sources answer; the longest ago {oldest}." if count > 1 else f"It answered {oldest} ago."
    names = ", ".join(source.name for source in stale)
    return f"{len(stale)} of {len(state.sources)} sources {'is' if len(stale) == 1 else 'are'} stale: {names}."
