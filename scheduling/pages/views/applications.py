"""Registered programs: the list, one of them, and the form for administrators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.base.errors import InputError
from gridportal.web.result_messages import add_result
from gridportal.web.sorting import sorted_by
from scheduling.contracts.selectors.promises import model_records
from scheduling.jobs.core import command_line, parameters, patterns, ranks
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.selectors import may_use, usable_applications, visible_applications, without_logs
from scheduling.jobs.services import registering as jobs_applications
from scheduling.jobs.services.share_partners import shareable_groups
from scheduling.pages import selectors
from scheduling.pages.application_form import ApplicationForm, from_application
from scheduling.pages.batch_values import unread_messages
from scheduling.pages.output_fields import output_rows
from scheduling.pages.stop_fields import stop_rows
from scheduling.pages.views.bring_program import clusters_for_programs
from scheduling.pages.views.sample_output import check_may_register, past_jobs
from scheduling.profiles.charts import picture
from scheduling.runs.services.program_warnings import program_warnings

RECENT = 10
#: By what the list sorts.
SORTS: Mapping[str, Callable[[Any], Any]] = {
    "name": lambda row: row.name.casefold(),
    "pattern": lambda row: row.pattern or None,
    "jobs": lambda row: row.job_count,
}


@require_safe
def applications(request: HttpRequest) -> HttpResponse:
    """All of them, with how often each was used by whom this person may see."""
    registered = visible_applications(caller(request))
    of_logs, with_logs = registered.filter(command=[]).count(), request.GET.get("logs") == "1"
    rows = list((registered if with_logs else without_logs(registered)).select_related("owner"))
    visible = selectors.jobs_visible_to(caller(request))
    counts = dict(visible.order_by().values_list("application").annotate(number=Count("pk")))
    submits = request.user.has_perm("scheduling.submit_job")
    usable = set(usable_applications(caller(request)).values_list("pk", flat=True))
    for row in rows:
        row.job_count = counts.get(row.pk, 0)
        row.whose = _whose(row, request)  # type: ignore[attr-defined]
        row.may_submit = submits and row.pk in usable  # type: ignore[attr-defined]
    sort = request.GET.get("sort", "")
    context = {"applications": sorted_by(rows, sort, SORTS), "sort": sort, "of_logs": of_logs, "with_logs": with_logs}
    return render(request, "scheduling/application_list.html", context)


def _whose(row: Application, request: HttpRequest) -> str:
    """Of somebody's own program: whose it is."""
    return "yours" if row.owner_id == request.user.pk else f"of {row.owner}" if row.owner else ""


@require_safe
def application(request: HttpRequest, slug: str) -> HttpResponse:
    """What it is, what it takes, how its ranks talk, and its jobs."""
    registered = get_object_or_404(visible_applications(caller(request)), slug=slug)
    visible = selectors.jobs_visible_to(caller(request)).filter(application=registered)
    context = {
        "application": registered,
        "parameters": _parameters(registered),
        "command": command_line.join(registered.command),
        "launcher": command_line.join(registered.launcher),
        "output": [*stop_rows(registered.stop_means), *output_rows(registered.output_patterns)],
        "rank_words": ranks.accepted(registered.rank_limits),
        "jobs": visible.order_by("-id")[:RECENT],
        "model_records": model_records(registered.pk),
        "may_submit": request.user.has_perm("scheduling.submit_job") and may_use(caller(request), registered),
        **_pattern(registered),
        **(_ownership(request, registered) if registered.owner_id else {}),
    }
    if context.get("is_mine") or (request.user.has_perm("scheduling.register_application") and registered.command):
        context["warnings"] = program_warnings(registered)
    return render(request, "scheduling/application.html", context)


def _ownership(request: HttpRequest, registered: Application) -> dict[str, object]:
    """Whose it is, with whom it is shared, and where it may run."""
    user, program = caller(request), OwnProgram.objects.filter(pk=registered.pk).first()
    is_mine = registered.owner_id == user.pk
    registered.has_jobs = registered.jobs.exists()  # type: ignore[attr-defined]
    return {
        "is_mine": is_mine,
        "program": program,
        "may_download": may_use(user, registered) or user.has_perm("scheduling.register_application"),
        "shares": registered.shares.select_related("person", "group") if is_mine else (),
        "groups": shareable_groups(user) if is_mine else (),
        "unread": unread_messages(program.text, user) if program and is_mine else (),
        "program_clusters": clusters_for_programs(),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Register a program, or change one; administrators only."""
    check_may_register(request)
    registered = get_object_or_404(Application, slug=slug, owner__isnull=True) if slug else None
    past = {"past_jobs": past_jobs(request, registered), "sample": request.POST.get("sample", "")}
    if request.method != "POST":
        context = {"form": _filled(registered), "application": registered, **past}
        return render(request, "scheduling/application_form.html", context)
    form, status = ApplicationForm(request.POST), 422
    if form.is_valid():
        try:
            saved = _saved(request, registered, form)
        except InputError as error:
            form.blame(error)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            status = 409
        else:
            outcome = "is changed." if registered else "is registered."
            add_result(request, saved.name, saved.get_absolute_url(), outcome)
            return redirect(saved)
    # The service sets fields on the row that it refuses; the page names the one that is stored.
    stored = Application.objects.filter(pk=registered.pk).first() if registered else None
    context = {"form": form, "application": stored, **past}
    return render(request, "scheduling/application_form.html", context, status=status)


def _filled(registered: Application | None) -> ApplicationForm:
    """The form as it is shown first."""
    if registered is None:
        return ApplicationForm(initial={"enabled": True})
    values = from_application(registered)
    return ApplicationForm(initial=values).show(values)


def _saved(request: HttpRequest, registered: Application | None, form: ApplicationForm) -> Application:
    fields = form.fields_of_application()
    if registered is None:
        return jobs_applications.register_application(caller(request), fields)
    pk, rows = registered.pk, rows_of(registered)
    events = changes_of(registered, "application.change", "application.publish")
    with unless_changed(request, lambda: from_application(Application.objects.get(pk=pk)), rows, events):
        return jobs_applications.register_application(caller(request), fields, registered)


def _parameters(registered: Application) -> list[dict[str, Any]]:
    try:
        declared = parameters.parse(registered.parameters)
    except InputError:
        return []
    return [{"parameter": parameter, "accepted": parameter.accepted()} for parameter in declared]


def _pattern(registered: Application) -> dict[str, Any]:
    if not registered.pattern:
        return {}
    choices = registered.rank_limits.get("choices") or [ranks.sample(registered.rank_limits)]
    fitting = [number for number in choices if 4 <= number <= 16] or [max(choices)]
    try:
        pattern = patterns.named(registered.pattern, fitting[0])
    except InputError:
        return {}
    nodes = [f"rank {rank}" for rank in range(pattern.ranks)]
    edges = tuple(RankPair((a, b), nodes[a], nodes[b], None, weight) for a, b, weight in pattern.edges)
    return {
        "picture": picture.picture(CandidateGroup(tuple(nodes), edges=edges), {}),
        "pattern_words": pattern.describe(),
    }
