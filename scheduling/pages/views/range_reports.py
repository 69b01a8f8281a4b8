"""Reports over a range of time: node-hours by user, group, site and day, utilization, slowdown, moves; CSV and PDF."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from gridportal.web.csv_stream import csv_response, plain_cell
from scheduling.jobs.filters import PRESETS, JobFilterForm
from scheduling.pages.report_pdf import pdf
from scheduling.pages.report_sections import OWN_TABS, TABS, Section
from scheduling.usage.ranges import Range

#: What is shown where nobody names a time, and the longest that can be: each run of it is read.
_USUAL, _LONGEST = "30d", timedelta(days=366)


@require_safe
def sections(request: HttpRequest, show: str) -> HttpResponse:
    """One tab of the report."""
    span, form = _range(request)
    context = {
        **report_tabs(request),
        "show": show,
        "label": TABS[show][0] if show in TABS else "",
        "sections": _sections(request, show, span),
        "span": span,
        "form": form,
        "since": "" if {"start", "until"} & set(form.values()) else form.values().get("since", _USUAL),
        "presets": [(name, words) for name, (words, _) in PRESETS.items()],
    }
    return render(request, "scheduling/report_sections.html", context)


@require_safe
def sections_csv(request: HttpRequest, show: str) -> StreamingHttpResponse:
    """The same for other programs: a table below the other, each row with the name of its table first."""
    found = _sections(request, show, _range(request)[0])
    widest = max((len(section.heads) for section in found), default=0)
    columns = ["table", *[f"column_{at}" for at in range(1, widest + 1)]]
    if len(found) == 1:
        columns = ["table", *(head.name for head in found[0].heads)]
    rows = (row for section in found for row in _lines(section, headed=len(found) > 1))
    return csv_response(f"report-{show}.csv", columns, rows)


@require_safe
def report_pdf(request: HttpRequest) -> HttpResponse:
    """All that this person may see, as one document."""
    span, _ = _range(request)
    tabs = [name for name in TABS if _may_see(request, name)]
    found = [section for name in tabs for section in _sections(request, name, span)]
    words = "Usage report" if request.user.has_perm("scheduling.view_all_jobs") else "Usage report of your jobs"
    subtitle = f"{span.begin:%Y-%m-%d %H:%M} to {span.until:%Y-%m-%d %H:%M} UTC"
    response = HttpResponse(pdf(words, subtitle, found), content_type="application/pdf")
    response["Content-Disposition"] = 'attachment; filename="report.pdf"'
    return response


def report_tabs(request: HttpRequest) -> dict[str, Any]:
    """The tabs that this person may open."""
    tabs = [(name, words) for name, (words, _) in TABS.items() if _may_see(request, name)]
    return {"report_tabs": tabs, "sees_all": request.user.has_perm("scheduling.view_all_jobs")}


def _lines(section: Section, *, headed: bool) -> list[list[Any]]:
    """The rows of a section; `headed`: the names of its columns come first, for each table has others."""
    head = [[section.key, *(each.name for each in section.heads)]] if headed else []
    return [*head, *([section.key, *map(plain_cell, row)] for row in section.values)]


def _sections(request: HttpRequest, show: str, span: Range) -> list[Section]:
    if show not in TABS:
        raise Http404(f"No report is called {show[:40]}.")
    if not _may_see(request, show):
        raise PermissionDenied("Operators and managers see this report.")
    return TABS[show][1](caller(request), span)


def _may_see(request: HttpRequest, show: str) -> bool:
    return show in OWN_TABS or request.user.has_perm("scheduling.view_all_jobs")


def _range(request: HttpRequest) -> tuple[Range, JobFilterForm]:
    """The time that the address names: the last 30 days unless told otherwise, a year at most."""
    form, now = JobFilterForm(request.GET, caller(request)), timezone.now()
    asked: dict[str, Any] = form.values()
    until = min(asked.get("until") or now, now)
    begin = asked.get("start")
    if begin is None:
        begin = until - PRESETS[asked.get("since", _USUAL)][1]
    begin = min(max(begin, until - _LONGEST), until)
    return Range(begin, until), form
