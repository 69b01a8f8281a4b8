"""The page of reports at set times: which there are, who gets them, and how one stops getting one."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.base.errors import ConflictError, InputError
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling.reports import schedule_services
from scheduling.reports.models import ReportSchedule
from scheduling.reports.report_tabs import TABS
from scheduling.reports.schedule_forms import EVERY, ScheduleForm, first_values
from scheduling.reports.selectors import schedules_of

_REFUSAL = "Managers and administrators have reports sent."


@require_safe
def schedules(request: HttpRequest) -> HttpResponse:
    """Which reports are sent, when, and to whom."""
    person = caller(request)
    rows = [
        {
            "schedule": row,
            "every": dict(EVERY)[row.every],  # type: ignore[index]  # a StrEnum's word
            "tabs": [TABS[name].label for name in row.tabs if name in TABS],
            "is_mine": person.username in row.people_names,
        }
        for row in schedules_of(person)
    ]
    return render(request, "scheduling/report_schedules.html", {"rows": rows, "no_mail": not settings.PORTAL.mail_url})


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """A new report at set times, or other values of one."""
    require_permission(request, "scheduling.schedule_reports", _REFUSAL)
    row = get_object_or_404(ReportSchedule, pk=pk) if pk else None
    if request.method != "POST":
        return _form(request, row, _filled(row))
    form = ScheduleForm(request.POST)
    if form.is_valid():
        try:
            saved = _saved_schedule(request, row, form)
        except InputError as error:
            add_input_error(form, error)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            return _form(request, row, form, 409)
        except ConflictError as error:
            messages.error(request, page_text(error))
            return redirect("report-schedules")
        else:
            add_result(
                request, f"Report {saved.name}", saved.get_absolute_url(), f"is sent next on {saved.next_at:%Y-%m-%d}."
            )
            return redirect("report-schedules")
    if row is not None:
        row.refresh_from_db()
    return _form(request, row, form, 422)


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a report at set times."""
    require_permission(request, "scheduling.schedule_reports", _REFUSAL)
    row = get_object_or_404(ReportSchedule, pk=pk)
    name = row.name
    schedule_services.remove_schedule(caller(request), row)
    add_result(request, f"Report {name}", reverse("report-schedules"), "is sent no more.")
    return redirect("report-schedules")


@require_POST
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Get a report no more."""
    person = caller(request)
    row = get_object_or_404(ReportSchedule.objects.filter(people=person), pk=pk)
    schedule_services.stop_for(person, row)
    add_result(request, f"Report {row.name}", reverse("report-schedules"), "is not sent to you any more.")
    return redirect("report-schedules")


def _filled(row: ReportSchedule | None) -> ScheduleForm:
    """The form as it is shown first."""
    return ScheduleForm(initial=first_values(row)).show(first_values(row)) if row else ScheduleForm()


def _saved_schedule(request: HttpRequest, row: ReportSchedule | None, form: ScheduleForm) -> ReportSchedule:
    if row is None:
        return schedule_services.save_schedule(caller(request), None, **form.cleaned_data)
    rows, events = rows_of(row), changes_of(row, "report.change_schedule", "report.stop")
    with unless_changed(request, lambda: first_values(ReportSchedule.objects.get(pk=row.pk)), rows, events):
        return schedule_services.save_schedule(caller(request), row, **form.cleaned_data)


def _form(request: HttpRequest, row: ReportSchedule | None, form: ScheduleForm, status: int = 200) -> HttpResponse:
    return render(request, "scheduling/report_schedule_form.html", {"schedule": row, "form": form}, status=status)
