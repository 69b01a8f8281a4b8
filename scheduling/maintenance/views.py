"""The page of maintenance and announcements."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import InputError
from gridportal.base.moment_text import moment_text
from gridportal.web.form_errors import add_input_error
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling.maintenance import put_away, selectors, services
from scheduling.maintenance.forms import AnnouncementForm, MaintenanceForm
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement

#: So many overlaps are told one by one.
_MOST_NOTED = 3


@require_safe
def maintenance(request: HttpRequest) -> HttpResponse:
    """What is planned and announced, and for those who may the forms."""
    return _page(request)


@require_POST
def plan(request: HttpRequest) -> HttpResponse:
    """Plan a time in which nodes are worked on."""
    require_permission(request, "scheduling.plan_maintenance", "Operators and administrators plan maintenance.")
    form = MaintenanceForm(request.POST)
    if form.is_valid():
        try:
            row = services.plan_maintenance(caller(request), **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            outcome = "is planned. No job is placed that could run into it."
            add_result(request, f"Maintenance of {row.cluster}", f"{reverse('maintenance')}#windows", outcome)
            _note_overlaps(request, row)
            return redirect("maintenance")
    return _page(request, window=form, status=422)


@require_POST
def end(request: HttpRequest, pk: int) -> HttpResponse:
    """End maintenance, or take it back."""
    require_permission(request, "scheduling.plan_maintenance", "Operators and administrators plan maintenance.")
    row = get_object_or_404(MaintenanceWindow.objects.select_related("cluster"), pk=pk)
    outcome = "has ended." if services.end_maintenance(caller(request), pk) else "is taken back."
    add_result(request, f"Maintenance of {row.cluster}", f"{reverse('maintenance')}#windows", outcome)
    return redirect("maintenance")


@require_POST
def announce(request: HttpRequest) -> HttpResponse:
    """Say something on all pages."""
    require_permission(request, "scheduling.make_announcement", "Administrators make announcements.")
    form = AnnouncementForm(request.POST)
    if form.is_valid():
        try:
            services.announce_on_pages(caller(request), **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            add_result(request, "The announcement", f"{reverse('maintenance')}#announcements", "is made.")
            return redirect("maintenance")
    return _page(request, announcement=form, status=422)


@require_POST
def end_announcement(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an announcement no more."""
    require_permission(request, "scheduling.make_announcement", "Administrators make announcements.")
    get_object_or_404(PageAnnouncement, pk=pk)
    services.end_announcement(caller(request), pk)
    add_result(request, "The announcement", f"{reverse('maintenance')}#announcements", "is shown no more.")
    return redirect("maintenance")


@require_POST
def put_away_announcement(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an announcement to this person no more, until it changes."""
    row, now = get_object_or_404(PageAnnouncement, pk=pk), timezone.now()
    answer = HttpResponse() if request.headers.get("HX-Request") else redirect("jobs")
    put_away.put_away(request, answer, row, selectors.shown(now).values_list("pk", flat=True))
    return answer


def _note_overlaps(request: HttpRequest, row: MaintenanceWindow) -> None:
    """Say which others are at that time on the same nodes."""
    now, others = timezone.now(), selectors.overlapping(row)
    for other in others[:_MOST_NOTED]:
        times = f"from {moment_text(other.start, now)} to {moment_text(other.end, now)}"
        named = ", ".join(other.nodes[:5]) + (" and more" if len(other.nodes) > 5 else "")
        by = f", planned by {other.created_by}" if other.created_by else ""
        messages.warning(request, f"It overlaps the maintenance of {named or 'all nodes'} {times}{by}.")
    if len(others) > _MOST_NOTED:
        messages.warning(request, f"It overlaps {len(others) - _MOST_NOTED} more.")


def _page(
    request: HttpRequest,
    window: MaintenanceForm | None = None,
    announcement: AnnouncementForm | None = None,
    status: int = 200,
) -> HttpResponse:
    now = timezone.now()
    context = {
        "windows": selectors.windows(now),
        "announcements": selectors.announcements(now),
        "now": now,
        "window_form": window or MaintenanceForm(),
        "announcement_form": announcement or AnnouncementForm(),
    }
    return render(request, "scheduling/maintenance/maintenance.html", context, status=status)
