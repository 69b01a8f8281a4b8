"""The audit trail as a page and as a CSV file, for operators, managers and administrators."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from gridportal.accounts.forms import AuditFilterForm
from gridportal.accounts.selectors import audit_actions, audit_events, audit_rows
from gridportal.web.paging import LongList, page_of

PAGE = 50
_view_audit = permission_required("accounts.view_audit", raise_exception=True)


@require_GET
@_view_audit
def trail(request: HttpRequest) -> HttpResponse:
    """Who did what, newest first; a malformed filter is named beside its field and left out."""
    form = AuditFilterForm(request.GET, audit_actions())
    form.is_valid()
    page = page_of(LongList(audit_events(form.cleaned_data)), PAGE, request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "filtered": any(form.cleaned_data.values()),
    }
    return render(request, "accounts/audit.html", context)


@require_GET
@_view_audit
def trail_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Exactly what is filtered, every page of it."""
    form = AuditFilterForm(request.GET)
    form.is_valid()
    response = StreamingHttpResponse(
        _lines(audit_rows(audit_events(form.cleaned_data))), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response


class _Echo:
    """A file that hands back what is written."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    return (writer.writerow(row) for row in rows)
