"""The page of a dry run: what the rescheduler would do on a cluster at this moment, move by move."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.long_answers import long_answer
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.services import dry_runs


@require_safe
def dry_run(request: HttpRequest) -> HttpResponse:
    """`?cluster=` is simulated; without one the page asks which. The page comes at once and asks for the moves then."""
    if not request.user.has_perm("scheduling.simulate_moves"):
        raise PermissionDenied("Operators and administrators have moves simulated.")
    cluster = request.GET.get("cluster", "")
    if getattr(request, "htmx", False):
        return _moves(request, cluster)
    context: dict[str, Any] = {"choices": list(settings.CLUSTERS), "cluster": cluster}
    if cluster and cluster not in settings.CLUSTERS:
        context |= {"problem": str(dry_runs.unknown(cluster)), "cluster": ""}
    context["most_seconds"] = dry_runs.MOST_SECONDS
    status = 422 if "problem" in context else 200
    return render(request, "scheduling/migrations/dry_run.html", context, status=status)


def _moves(request: HttpRequest, cluster: str) -> HttpResponse:
    """The part of the page that takes long."""
    try:
        with long_answer(caller(request).pk):
            found = dry_runs.dry_run(cluster)
    except GridPortalError as error:
        context: dict[str, object] = {"problem": str(error)}
    else:
        stays = [(each, decision_messages.finding(each)) for each in found.stays]
        moves = [(each, decision_messages.finding(each)) for each in found.moves]
        summary = decision_messages.dry_run_summary(found.moves, len(stays))
        context = {"run": found, "summary": summary, "stays": stays, "moves": moves}
    response = render(request, "scheduling/migrations/dry_run_moves.html", context)
    patch_cache_control(response, no_store=True)
    return response
