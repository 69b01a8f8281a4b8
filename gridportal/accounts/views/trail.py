"""The audit trail as a page and as a CSV file, for operators, managers and administrators."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from gridportal.accounts.audit_text import action_text
from gridportal.accounts.forms import AuditFilterForm
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.list_pages import LISTS
from gridportal.accounts.selectors import CSV_HEAD, audit_actions, audit_list, audit_rows
from gridportal.web.csv_stream import csv_response
from gridportal.web.paging import page_of
from gridportal.web.refused_file import refused_file, unknown_filters
from gridportal.web.required_permission import require_permission

PAGE = 50
NEWEST_FIRST = "-when"
#: What the address of the page may have beside filters.
_NO_FILTERS = ("page", "view")
_REFUSAL = "Operators, managers and administrators see the audit trail."


@require_GET
def trail(request: HttpRequest) -> HttpResponse:
    """Who did what, newest first; a malformed filter is named beside its field and left out."""
    require_permission(request, "accounts.view_audit", _REFUSAL)
    if usual := usual_view(request, "audit"):
        return usual
    form = AuditFilterForm(request.GET, audit_actions())
    form.is_valid()
    sort = request.GET.get("sort", NEWEST_FIRST)
    found = audit_list(form.cleaned_data, sort)
    page = page_of(found, PAGE, request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "rows": [(event, action_text(event)) for event in page.object_list],
        "filtered": any(form.cleaned_data.values()),
        "sort": sort if sort == "when" else found.sort or NEWEST_FIRST,
        "unsorted": found.unsorted,
        **list_context(request, "audit"),
    }
    return render(request, "accounts/audit.html", context)


@require_GET
def trail_csv(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Exactly what is filtered, every page of it; 400 for a filter that cannot be read, or is none."""
    require_permission(request, "accounts.view_audit", _REFUSAL)
    form = AuditFilterForm(request.GET)
    accepted = {*LISTS["audit"].parameters, *_NO_FILTERS}
    if refused := unknown_filters(request.GET, accepted) or refused_file(form):
        return refused
    return csv_response("audit.csv", CSV_HEAD, audit_rows(audit_list(form.cleaned_data, request.GET.get("sort", ""))))
