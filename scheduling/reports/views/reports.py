"""The report of what was used: by applications, by their skeletons, and what choosing by these cost and won."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.list_context import list_context
from gridportal.accounts.models import User
from gridportal.web.refused_file import refused_file
from scheduling.jobs import selectors as job_selectors
from scheduling.jobs.filters import REPORT_PRESETS, JobFilterForm
from scheduling.reports.compared import SECONDS, Figure, compared
from scheduling.reports.core.report_file_names import file_name
from scheduling.reports.report_section import Section
from scheduling.reports.views.range_reports import SKELETONS, report_tabs
from scheduling.usage import selectors as use_selectors
from scheduling.usage import sums as use_sums
from scheduling.usage.asked_range import USUAL, exact_range
from scheduling.usage.selectors import Use

COLUMNS = (
    *("cluster", "application", "runs", "seconds", "node_hours", "skeleton_runs", "skeleton_seconds"),
    *("skeleton_node_hours", "trials", "seconds_spent", "seconds_won", "trials_with_known_win"),
    *("trials_over_budget", "seconds_over_budget"),
)
#: By what the table sorts.
SORTS: dict[str, Callable[[Use], Any]] = {
    "application": lambda row: row.name.lower(),
    "cluster": lambda row: row.cluster,
    "runs": lambda row: row.runs,
    "time": lambda row: row.time,
    "node_hours": lambda row: row.node_time,
    "skeleton_runs": lambda row: row.skeleton_runs,
    "skeleton_time": lambda row: row.skeleton_time,
    "skeleton_node_hours": lambda row: row.skeleton_node_time,
    "trials": lambda row: row.trials,
    "spent": lambda row: row.spent_time,
    "over": lambda row: row.overrun_time,
    "won": lambda row: row.won_time,
}


class ReportFilterForm(JobFilterForm):
    """The filters of a job list, with the times that reports offer."""

    def __init__(self, data: Mapping[str, str], user: User) -> None:
        super().__init__(data, user)
        presets = [(name, label) for name, (label, _) in REPORT_PRESETS.items()]
        self.fields["since"].choices = [("", "any time"), *presets]  # type: ignore[attr-defined]  # it is a ChoiceField


@require_safe
def report(request: HttpRequest) -> HttpResponse:
    """What the jobs that this person may see used, by application and cluster."""
    form, rows = _found(request)
    whole = use_selectors.together(rows)
    context = {
        "form": form,
        "rows": rows,
        "sort": request.GET.get("sort", ""),
        "compared": _compared(request, form, whole),
        "whole": whole,
        "has_jobs": bool(rows) or job_selectors.jobs_of(caller(request)).exists(),
        "presets": [(name, label) for name, (label, _) in REPORT_PRESETS.items()],
        **report_tabs(request),
        **list_context(request, "reports", tab=SKELETONS),
        "no_columns": True,
    }
    return render(request, "scheduling/report.html", context)


@require_safe
def report_csv(request: HttpRequest) -> HttpResponse:
    """The same for other programs; 400 for a filter that cannot be read."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    form, rows = _found(request)
    if refused := refused_file(form):
        return refused
    response["Content-Disposition"] = f'attachment; filename="{_file_name(request, form)}"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_line(row))
    return response


def _file_name(request: HttpRequest, form: JobFilterForm) -> str:
    values = form.values()
    if not {"since", "start", "until"} & set(values):
        return file_name(SKELETONS, None, None, "csv")
    span = exact_range(values, str(values.get("since", "")))
    begin = span.begin if {"since", "start"} & set(values) else None
    return file_name(SKELETONS, begin, span.until, "csv", in_days=span.is_in_days)


def _found(request: HttpRequest) -> tuple[JobFilterForm, list[Use]]:
    given = request.GET.copy()
    if not any(given.get(name) for name in ("since", "start", "until")):
        given["since"] = USUAL
    form = ReportFilterForm(given, caller(request))
    return form, _sorted(use_sums.use_for(caller(request), form), request.GET.get("sort", ""))


def _sorted(rows: list[Use], wanted: str) -> list[Use]:
    """By a column of SORTS, downwards with a "-"; most node time first unless told otherwise."""
    column = SORTS.get(wanted.removeprefix("-"))
    return sorted(rows, key=column, reverse=wanted.startswith("-")) if column else rows


def _compared(request: HttpRequest, form: JobFilterForm, whole: Use) -> Section | None:
    """The same of as long a time before; None for a time without a beginning."""
    values = form.values()
    if not {"since", "start"} & set(values):
        return None
    before = exact_range(values, str(values.get("since", ""))).before
    rest = {name: str(value) for name, value in request.GET.items() if name not in ("since", "start", "until")}
    moments = {"start": f"{before.begin:%Y-%m-%dT%H:%M:%S}", "until": f"{before.until:%Y-%m-%dT%H:%M:%S}"}
    earlier = use_sums.use_for(caller(request), JobFilterForm(rest | moments, caller(request)))
    return compared(_figures(whole), _figures(use_selectors.together(earlier)), before)


def _figures(whole: Use) -> list[Figure]:
    return [
        Figure("Node-hours", round(whole.node_seconds / 3600, 4)),
        Figure("Runs", whole.runs),
        Figure("Skeleton node-hours", round(whole.skeleton_node_seconds / 3600, 4)),
        Figure("Jobs tried", whole.trials),
        Figure("Time spent choosing", round(whole.spent, 1), SECONDS),
        Figure("Time won, predicted", round(whole.won, 1), SECONDS),
    ]


def _line(row: Use) -> list[Any]:
    ran = [row.runs, round(row.seconds, 3), round(row.node_seconds / 3600, 6)]
    tried = [row.skeleton_runs, round(row.skeleton_seconds, 3), round(row.skeleton_node_seconds / 3600, 6)]
    chosen = [row.trials, round(row.spent, 3), round(row.won, 3), row.compared, row.over, round(row.overrun, 3)]
    return [row.cluster, row.slug, *ran, *tried, *chosen]
