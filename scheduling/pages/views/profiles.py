"""The communication profile of an application: graph, heat map, phases, calls, and older ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from scheduling.jobs.selectors import visible_applications
from scheduling.pages import selectors
from scheduling.profiles.charts import profile_pictures as charts
from scheduling.profiles.core import profile
from scheduling.profiles.models import Profile
from scheduling.profiles.services import observing, stored_profiles
from scheduling.skeletons.services import stored_skeletons

_PAIRS, _CALLS = 40, 12


@require_safe
def application_profile(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest profile, or the one that `?profile=` names."""
    application = get_object_or_404(visible_applications(caller(request)), slug=slug)
    rows = stored_profiles.profiles_of(application)
    for row in rows:
        row.stale = stored_profiles.is_stale(row)
    made = stored_skeletons.skeletons_of(application)
    for one in made:
        one.stale = stored_skeletons.is_stale(one)
    replaced = stored_skeletons.replaced(made)
    monitor = observing.command(application)
    context: dict[str, Any] = {"application": application, "profiles": rows, "monitor": monitor}
    context |= {"skeletons": made, "replaced": replaced}
    if rows:
        context |= _one(request, _chosen(rows, request.GET.get("profile", "")))
    return render(request, "scheduling/profile.html", context)


def _chosen(rows: list[Profile], wanted: str) -> Profile:
    if not wanted:
        return next((row for row in rows if not row.stale), rows[0])
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
