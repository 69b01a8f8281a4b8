"""Skeletons of an application: what each does, segment by segment, its file, and building one."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_note, add_result
from scheduling.jobs.selectors import visible_applications
from scheduling.messages import message
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.skeletons.core.skeleton import summary
from scheduling.skeletons.models import Skeleton
from scheduling.skeletons.services import stored_skeletons

MOST_ROWS = 200
RUNS = 20


@require_safe
def skeleton(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One skeleton: its figures, its segments, where it was run."""
    row = _skeleton(request, slug, pk)
    rows = summary.rows(row.document) if row.document else []
    context = {
        "application": row.application,
        "skeleton": row,
        "stale": stored_skeletons.is_stale(row),
        "warning": stored_profiles.warning(row.profile),
        "segments": [(one, _calls(one)) for one in rows[:MOST_ROWS]],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "runs": _runs(request, row),
    }
    return render(request, "scheduling/skeleton.html", context)


@require_safe
def download(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The skeleton as `gridportal skeleton run` takes it."""
    row = _skeleton(request, slug, pk)
    if row.document is None:
        raise Http404("There is no such skeleton: " + message(row.problem))
    response = HttpResponse(json.dumps(row.document), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="skeleton-{slug}-{row.ranks}.json"'
    return response


@require_POST
def build(request: HttpRequest, slug: str) -> HttpResponse:
    """Build a skeleton from a traced profile; where an equal one is there, show that."""
    user: Any = request.user
    if not user.has_perm("scheduling.build_skeleton"):
        raise PermissionDenied("Only operators and administrators build skeletons.")
    application = get_object_or_404(visible_applications(user), slug=slug)
    text = request.POST.get("profile", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
    profile = get_object_or_404(Profile, application=application, pk=number)
    try:
        row, is_new = stored_skeletons.build(profile, actor=user)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(f"{reverse('application-profile', args=[slug])}?profile={profile.pk}")
    if row.problem:
        messages.error(request, message(row.problem))
    else:
        name, address = f"A skeleton of {row.expected:.2g} s", reverse("skeleton", args=[slug, row.pk])
        if is_new:
            add_result(request, name, address, f"is built for {application.name}.")
        else:
            add_note(request, name, address, "is there already, of the same profile; none was built.")
    return redirect("skeleton", slug, row.pk)


def _skeleton(request: HttpRequest, slug: str, pk: int) -> Skeleton:
    rows = Skeleton.objects.select_related("application", "profile")
    visible = visible_applications(caller(request))
    return get_object_or_404(rows.filter(application__in=visible), application__slug=slug, pk=pk)


def _calls(row: summary.Row) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(row.calls.items()))


def _runs(request: HttpRequest, row: Skeleton) -> list[Any]:
    """Its last runs, in jobs that this person may see."""
    user: Any = request.user
    runs = row.runs.select_related("job").defer("script")
    if not user.has_perm("scheduling.view_all_jobs"):
        runs = runs.filter(job__owner=user)
    return list(runs.order_by("-pk")[:RUNS])
