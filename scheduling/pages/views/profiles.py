"""The communication profile of an application: graph, heat map, phases, calls, and older ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from scheduling.jobs.models import Application
from scheduling.jobs.selectors import visible_applications
from scheduling.pages import selectors
from scheduling.profiles.charts import profile_pictures as charts
from scheduling.profiles.core import profile
from scheduling.profiles.core.profile_uses import ProfileUse
from scheduling.profiles.models import Profile
from scheduling.profiles.services import observing, stored_profiles
from scheduling.runs.models import Run
from scheduling.skeletons.services import stored_skeletons

_PAIRS, _CALLS = 40, 12
_RUNS = 10
_NOT_TAKEN = (ProfileUse.STALE, ProfileUse.FAILED)


@require_safe
def application_profile(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest profile, or the one that `?profile=` names."""
    application = get_object_or_404(visible_applications(caller(request)), slug=slug)
    rows = stored_profiles.profiles_of(application)
    for row, use in zip(rows, stored_profiles.uses(rows), strict=True):
        row.use, row.pattern_shown = use, stored_profiles.pattern_name(row)
    made = stored_skeletons.skeletons_of(application)
    for one in made:
        one.stale = stored_skeletons.is_stale(one)
    replaced = stored_skeletons.replaced(made)
    chosen = _chosen(rows, request.GET.get("profile", "")) if rows else None
    context: dict[str, Any] = {"application": application, "profiles": rows}
    context |= {"skeletons": made, "replaced": replaced}
    watched = _watched(request, application, chosen)
    context |= {"monitor": observing.command(application, watched)}
    context |= {"shares_nodes": watched is not None and observing.shares_nodes(watched)}
    if chosen:
        context |= _one(request, chosen)
    return render(request, "scheduling/profile.html", context)


def _watched(request: HttpRequest, application: Application, chosen: Profile | None) -> Run | None:
    """The run whose nodes the command names: that of the profile, else the newest that this person may see. One of
    which the command can tell nothing only where there is no other."""
    visible = selectors.jobs_visible_to(caller(request)).filter(application=application)
    runs = Run.objects.filter(job__in=visible, job__cluster__in=observing.grids()).order_by("-pk")
    runs = runs.select_related("job", "placement").defer("script")
    own = runs.filter(pk=chosen.run_id) if chosen and chosen.run_id else runs.none()
    found = [*own, *runs[:_RUNS]]
    useful = (run for run in found if observing.can_be_watched(application, run))
    return next(useful, found[0] if found else None)


def _chosen(rows: list[Profile], wanted: str) -> Profile:
    if not wanted:
        return next((row for row in rows if row.use not in _NOT_TAKEN), rows[0])
    found = next((row for row in rows if str(row.pk) == wanted), None)
    if found is None:
        raise Http404("This application has no such profile.")
    return found


def _one(request: HttpRequest, row: Profile) -> dict[str, Any]:
    observed = profile.parse(row.document)
    visible = selectors.jobs_visible_to(caller(request))
    job = visible.filter(runs=row.run).first() if row.run else None
    return {
        "row": row,
        "profile": observed,
        "warning": observed.warning,
        "job": job,
        "pattern_name": stored_profiles.pattern_name(row),
        "order": " ".join(map(str, observed.recognized.order)),
        "picture": charts.graph(observed),
        "heat_map": charts.heat_map(observed),
        "pairs": _pairs(observed),
        "pairs_left_out": max(0, len(observed.pairs) - _PAIRS),
        "calls": observed.calls[:_CALLS],
    }


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two ranks and what they sent each other. `messages`: None where they were not counted; `share`: of the bytes of
    the heaviest pair, 0..1; `matters`: it is one of the dominant pairs."""

    ranks: str
    bytes: float
    messages: int | None
    share: float
    matters: bool


def _pairs(observed: profile.Profile) -> list[_Pair]:
    dominant = {pair[:2] for pair in observed.dominant}
    most = observed.pairs[0][2] if observed.pairs else 0
    rows = []
    for a, b, size in observed.pairs[:_PAIRS]:
        number = None if observed.numbers is None else observed.numbers[a, b] + observed.numbers[b, a]
        rows.append(_Pair(f"{a}–{b}", size, number, size / most if most else 0.0, (a, b) in dominant))
    return rows
