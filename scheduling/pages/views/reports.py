"""The report of what was used: by applications, by their skeletons, and what choosing by these cost and won."""

from __future__ import annotations

import csv
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from scheduling.jobs.filters import PRESETS, JobFilterForm
from scheduling.pages.views.range_reports import report_tabs
from scheduling.usage import selectors as use_selectors
from scheduling.usage import sums as use_sums
from scheduling.usage.selectors import Use

COLUMNS = (
    *("cluster", "application", "runs", "seconds", "node_hours", "skeleton_runs", "skeleton_seconds"),
    *("skeleton_node_hours", "trials", "seconds_spent", "seconds_won", "trials_with_known_win"),
    *("trials_over_budget", "seconds_over_budget"),
)


@require_safe
def report(request: HttpRequest) -> HttpResponse:
    """What the jobs that this person may see used, by application and cluster."""
    form, rows = _found(request)
    whole = use_selectors.together(rows)
    context = {
        "form": form,
        "rows": rows,
        "whole": whole,
        "narrowed": form.narrows,
        "presets": [("", "all time"), *((name, label) for name, (label, _) in PRESETS.items())],
        **report_tabs(request),
    }
    return render(request, "scheduling/report.html", context)


@require_safe
def report_csv(request: HttpRequest) -> HttpResponse:
    """The same for other programs."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="use.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    for row in _found(request)[1]:
        writer.writerow(_line(row))
    return response


def _found(request: HttpRequest) -> tuple[JobFilterForm, list[Use]]:
    form = JobFilterForm(request.GET, caller(request))
    return form, use_sums.use_for(caller(request), form)


def _line(row: Use) -> list[Any]:
    ran = [row.runs, round(row.seconds, 3), round(row.node_seconds / 3600, 6)]
    tried = [row.skeleton_runs, round(row.skeleton_seconds, 3), round(row.skeleton_node_seconds / 3600, 6)]
    chosen = [row.trials, round(row.spent, 3), round(row.won, 3), row.compared, row.over, round(row.overrun, 3)]
    return [row.cluster, row.slug, *ran, *tried, *chosen]
