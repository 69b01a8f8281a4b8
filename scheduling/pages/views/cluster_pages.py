"""The pages of clusters: all of them, and one with its state, a check of all its parts, and its settings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from gridportal.web.templatetags.units import duration
from scheduling import tasks
from scheduling.cluster_checks import selectors, services
from scheduling.cluster_checks.check_messages import TITLES, step_message, summary
from scheduling.cluster_checks.models import ClusterCheck
from scheduling.cluster_checks.selectors import ClusterState


@require_safe
def clusters(request: HttpRequest) -> HttpResponse:
    """All that are set up."""
    _must_oversee(request)
    context = {"rows": [(state, finding(state)) for state in selectors.cluster_states()], "origin": selectors.origin()}
    return render(request, "scheduling/clusters/list.html", context)


@require_safe
def cluster(request: HttpRequest, name: str) -> HttpResponse:
    """One of them; htmx gets only the part that lives."""
    _must_oversee(request)
    _must_be_set_up(name)
    live = bool(getattr(request, "htmx", False))
    context = _live_part(request, name)
    if not live and request.user.has_perm("accounts.manage_people"):
        context |= {"setting_rows": selectors.setting_rows(settings.CLUSTERS[name])}
    response = render(request, f"scheduling/clusters/{'_live' if live else 'cluster'}.html", context)
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_POST
def check(request: HttpRequest, name: str) -> HttpResponse:
    """Have all parts of a cluster asked; a worker does it, and the page follows."""
    require_permission(request, "scheduling.check_cluster", "Operators and administrators check clusters.")
    _must_be_set_up(name)
    address = f"{reverse('cluster', args=[name])}#check"
    try:
        row = services.ask_for_check(caller(request), name)
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        tasks.check_cluster.delay_on_commit(row.pk)
        add_result(request, f"The cluster {name}", address, "is being checked. This page says what comes out.")
    return redirect(address)


def finding(state: ClusterState) -> str:
    """One sentence about a cluster as it is now."""
    if state.answers is None:
        return "No worker has reached it yet."
    if not state.answers:
        return "It does not answer."
    taking = state.nodes - state.closed
    jobs = f"{state.running} {'job has' if state.running == 1 else 'jobs have'} nodes, {state.waiting} wait."
    if taking == state.nodes:
        return f"It answers; all {state.nodes} nodes take jobs. {jobs}"
    return f"It answers; {taking} of {state.nodes} nodes take jobs. {jobs}"


def telemetry_text(state: ClusterState) -> str:
    """How old the figures are."""
    if not state.sources:
        return "no source was asked yet"
    if state.stale:
        return f"stale: {', '.join(source.name for source in state.stale)}"
    return f"{duration(state.age or 0.0)} old at most"


def _live_part(request: HttpRequest, name: str) -> dict[str, Any]:
    state, newest = selectors.cluster_state(name), selectors.last_check(name)
    return {
        "state": state,
        "finding": finding(state),
        "telemetry": telemetry_text(state),
        "may_check": request.user.has_perm("scheduling.check_cluster"),
        **_check_part(newest),
    }


def _check_part(newest: ClusterCheck | None) -> dict[str, Any]:
    if newest is None:
        return {"check": None}
    results, left = newest.step_results, newest.open_steps
    under_way = newest.is_under_way(timezone.now())
    return {
        "check": newest,
        "under_way": under_way,
        "results": [(TITLES[each.step], each, step_message(each)) for each in results],
        "asked": len(results),
        "steps": len(results) + len(left),
        "left": [TITLES[step] for step in left],
        "was_lost": not under_way and newest.ended_at is None,
        "summary": summary(results) if newest.ended_at else "",
    }


def _must_oversee(request: HttpRequest) -> None:
    require_permission(request, "scheduling.view_clusters", "Operators, managers and administrators see clusters.")


def _must_be_set_up(name: str) -> None:
    if name not in settings.CLUSTERS:
        raise Http404(f"No cluster called {name[:60]} is set up.")
