"""The list of jobs: filtered, sorted and paged by its address; the same as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.base.time_presets import PRESETS
from gridportal.web.csv_stream import csv_response, plain_cell
from gridportal.web.paging import page_of
from gridportal.web.refused_file import refused_file
from gridportal.web.templatetags.job_times import ran
from scheduling.jobs.filters import JobFilterForm
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import jobs_shared_with
from scheduling.messages import message
from scheduling.pages import selectors
from scheduling.pages.job_list import JobList
from scheduling.placing.selectors import occupancy

PER_PAGE = 50
COLUMNS = (
    *("id", "name", "application", "owner", "state", "method", "pattern", "ranks", "node_count", "chosen_nodes"),
    *("running_seconds", "seconds", "program_check", "submitted", "started", "ended", "reason"),
)
#: What the program's own check said, as files of jobs have it beside the state.
CHECKS = {True: "passed", False: "failed", None: "not checked"}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The first page is the list of jobs."""
    return redirect("jobs")


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """One page of the list; htmx gets only the part that lives."""
    if usual := usual_view(request, "jobs"):
        return usual
    visible = _visible(request)
    form, found = _found(request, visible)
    page = page_of(found, PER_PAGE, request.GET.get("page"))
    live, sees_all = getattr(request, "htmx", False), request.user.has_perm("scheduling.view_all_jobs")
    shared = bool(request.GET.get("shared"))
    context = {
        "form": form,
        "page": page,
        "sort": found.sort,
        "unsorted": found.unsorted,
        "total": page.paginator.count,
        "narrowed": form.narrows,
        "any_job": page.paginator.count > 0 or (form.narrows and visible.exists()),
        "presets": [(name, label) for name, (label, _) in PRESETS.items()],
        "shared": shared,
        "any_shared": not (live or sees_all) and jobs_shared_with(caller(request)).exists(),
        "may_cancel": request.user.has_perm("scheduling.cancel_jobs"),
        "sees_all": sees_all,
        **list_context(request, "jobs", lacks=() if sees_all or shared else ("owner",)),
    }
    return render(request, "scheduling/_job_table.html" if live else "scheduling/job_list.html", context)


@require_safe
def jobs_csv(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Every job that the filters let through, not only one page of them; 400 for a filter that cannot be read."""
    form, found = _found(request, _visible(request))
    if refused := refused_file(form):
        return refused
    return csv_response("jobs.csv", COLUMNS, _rows(found))


def _visible(request: HttpRequest) -> QuerySet[Job]:
    """The jobs of the list; with `?shared=1` those of others that are shared with this person."""
    if request.GET.get("shared"):
        return selectors.with_outcomes(jobs_shared_with(caller(request))).select_related("project")
    return selectors.jobs_visible_to(caller(request)).select_related("project")


def _found(request: HttpRequest, visible: QuerySet[Job]) -> tuple[JobFilterForm, JobList]:
    form = JobFilterForm(request.GET, caller(request))
    return form, JobList(form.apply(visible), request.GET.get("sort", ""), visible, at_once=form.reads_names)


def _rows(found: JobList) -> Iterator[list[object]]:
    reasons = occupancy.Reasons()
    for job in found:
        yield [plain_cell(value) for value in [*_row(job), message(reasons.of(job))]]


def _row(job: Any) -> list[object]:
    timestamps = [value.isoformat() if value else "" for value in (job.created_at, job.started_at, job.ended_at)]
    asked = [job.pk, job.name, job.application.slug, job.owner.username, job.state, job.method, job.pattern]
    chosen = " ".join(job.chosen_nodes or [])
    return [*asked, job.ranks, job.node_count, chosen, ran(job), job.run_seconds, CHECKS[job.run_verified], *timestamps]
