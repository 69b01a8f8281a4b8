"""Reports over a range of time: who used what, how it went, and against the time before; as page, CSV and PDF."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.list_pages import COLUMN, LISTS
from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError
from gridportal.web.csv_stream import csv_response, plain_cell
from gridportal.web.refused_file import refused_file, text_answer
from scheduling.jobs.filters import REPORT_PRESETS, JobFilterForm
from scheduling.reports.charts import report_chart
from scheduling.reports.report_pdf import pdf
from scheduling.reports.report_section import Section
from scheduling.reports.report_tabs import ALL_TABS, TABS, file_of, seen_by
from scheduling.reports.section_pages import on_page, section_page
from scheduling.reports.use_cells import with_columns
from scheduling.usage.asked_range import USUAL, asked_range, range_note, range_text
from scheduling.usage.period_sums import read_once
from scheduling.usage.ranges import Range

_LONGEST_WORDS = 100


class ReportRequest(NamedTuple):
    """What an address asks of a report: its time, the form that read it, the order and the words to find; `range_note`:
    what a reader is to know of that time."""

    span: Range
    form: JobFilterForm
    since: str
    sort: str
    find: str
    range_note: str


#: What the tab of skeletons alone can be narrowed by: addresses that people kept.
_OF_SKELETONS = {"application", "owner", "state", "method", "q"}


#: How a saved view calls that tab.
SKELETONS = "skeletons"


@require_safe
def first_tab(request: HttpRequest) -> HttpResponse:
    """The tab that `?tab=` names, as saved views do, with the rest of the address; without: who used what."""
    if usual := usual_view(request, "reports"):
        return usual
    given = request.GET.copy()
    tab = given.pop("tab", [SKELETONS if _OF_SKELETONS & set(given) else "people"])[-1]
    tab = tab if tab in {*TABS, SKELETONS} else "people"
    page = reverse("report") if tab == SKELETONS else reverse("report-sections", args=[tab])
    return redirect(f"{page}?{given.urlencode()}" if given else page)


@require_safe
def sections(request: HttpRequest, show: str) -> HttpResponse:
    """One tab of the report."""
    asked = _asked(request)
    found = _sections(request, show, asked)
    context = {
        **report_tabs(request),
        **asked._asdict(),
        "show": show,
        "label": TABS[show].label,
        "range_text": range_text(asked.span),
        "sections": [_shown_part(section, request.GET.get("page", "")[:_LONGEST_WORDS]) for section in found],
        "presets": [(name, words) for name, (words, _) in REPORT_PRESETS.items()],
        **list_context(request, "reports", tab=show),
        "no_columns": not TABS[show].has_use,
    }
    return render(request, "scheduling/report_sections.html", context)


@require_safe
def table_csv(request: HttpRequest, show: str, table: str) -> HttpResponse | StreamingHttpResponse:
    """One table of a tab for other programs: its columns by their names, then its rows; 400 for a time that cannot be
    read."""
    asked = _asked(request)
    if refused := refused_file(asked.form):
        return refused
    found = _sections(request, show, asked)
    section = next((each for each in found if each.key == table), None)
    if section is None:
        raise Http404(f"This report has no table {table[:40]}; it has {', '.join(each.key for each in found)}.")
    name = TABS[show].file if len(found) == 1 else f"{TABS[show].file}-{section.key}"
    rows = ([plain_cell(value) for value in row] for row in section.values)
    return csv_response(file_of(name, asked.span, "csv"), [head.name for head in section.heads], rows)


@require_safe
def report_pdf(request: HttpRequest) -> HttpResponse:
    """All that this person may see, as one document; `tab` names one of the tabs alone. 400 for another word, and for
    a time that cannot be read."""
    asked, tabs = _asked(request), seen_by(caller(request))
    one = request.GET.get("tab", "")
    if one and one not in tabs:
        return text_answer(str(InputError("tab", one, one_of(tabs))))
    if refused := refused_file(asked.form):
        return refused
    tabs = {one: tabs[one]} if one else tabs
    with read_once():
        found = [section for name in tabs for section in _arranged(request, name, asked)]
    words = "Usage report" if request.user.has_perm("scheduling.view_all_jobs") else "Usage report of your jobs"
    subtitle = f"{range_text(asked.span)}. {asked.range_note}".strip()
    response = HttpResponse(pdf(words, subtitle, found), content_type="application/pdf")
    name = file_of(tabs[one].file if one in tabs else ALL_TABS, asked.span, "pdf")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def report_tabs(request: HttpRequest) -> dict[str, Any]:
    """The tabs that this person may open."""
    tabs = [(name, tab.label) for name, tab in seen_by(caller(request)).items()]
    return {"report_tabs": tabs, "sees_all": request.user.has_perm("scheduling.view_all_jobs")}


def _shown_part(section: Section, asked: str) -> tuple[Section, object, Page[Any]]:
    """A section with the rows of one part of its table, its chart, and that part."""
    page = section_page(section, asked)
    return on_page(section, page), _chart(section), page


def _chart(section: Section) -> dict[str, Any] | None:
    return report_chart.figure(section.chart) if section.chart else None


def _sections(request: HttpRequest, show: str, asked: ReportRequest) -> list[Section]:
    if show not in TABS:
        raise Http404(f"No report is called {show[:40]}.")
    if not TABS[show].is_seen_by(caller(request)):
        raise PermissionDenied("Operators, managers and administrators see this report.")
    with read_once():
        return _arranged(request, show, asked)


def _arranged(request: HttpRequest, show: str, asked: ReportRequest) -> list[Section]:
    """The sections with the order, words and columns that the address asks for."""
    found = TABS[show].sections(caller(request), asked.span)
    shown = LISTS["reports"].shown(request.GET.getlist(COLUMN))
    return [with_columns(section.arranged(asked.sort, asked.find), shown) for section in found]


def _asked(request: HttpRequest) -> ReportRequest:
    given, since = request.GET.copy(), request.GET.get("since", USUAL)
    if since in REPORT_PRESETS:
        given.pop("since", None)  # a list of jobs knows fewer
    form = JobFilterForm(given, caller(request))
    values, since = form.values(), since if since in REPORT_PRESETS else USUAL
    by_moments = {"start", "until"} & set(values)
    sort, find = (request.GET.get(name, "")[:_LONGEST_WORDS] for name in ("sort", "find"))
    span = asked_range(values, since)
    return ReportRequest(span, form, "" if by_moments else since, sort, find, range_note(span, values))
