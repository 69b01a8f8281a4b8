"""The page of a dry run: what the rescheduler would do on a cluster at this moment, move by move."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.base.errors import GridPortalError
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.services import dry_runs


@require_safe
def dry_run(request: HttpRequest) -> HttpResponse:
    """`?cluster=` is simulated; without one the page asks which."""
    if not request.user.has_perm("scheduling.simulate_moves"):
        raise PermissionDenied("Operators have the series of moves simulated.")
    cluster = request.GET.get("cluster", "")
    context: dict[str, Any] = {"choices": list(settings.CLUSTERS), "cluster": cluster}
    if not cluster:
        return render(request, "scheduling/migrations/dry_run.html", context)
    try:
        found = dry_runs.dry_run(cluster)
    except GridPortalError as error:
        context["problem"] = str(error)
        return render(request, "scheduling/migrations/dry_run.html", context, status=422)
    stays = [(each, decision_messages.finding(each)) for each in found.stays]
    moves = [(each, decision_messages.finding(each)) for each in found.moves]
    context |= {"run": found, "summary": decision_messages.dry_run_summary(found.moves, len(stays)), "stays": stays}
    return render(request, "scheduling/migrations/dry_run.html", context | {"moves": moves})
