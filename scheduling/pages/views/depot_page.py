"""The page of what jobs have in the depots."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scheduling.checkpoints.services.depot_use import depot_use


@require_safe
def depots(request: HttpRequest) -> HttpResponse:
    """Each cluster with depots, node by node."""
    if not request.user.has_perm("scheduling.view_depots"):
        raise PermissionDenied("Only operators, managers and administrators see what jobs have in depots.")
    return render(request, "scheduling/depots.html", {"used": depot_use(), "section": "telemetry"})
