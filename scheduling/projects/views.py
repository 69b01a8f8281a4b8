"""The pages of projects: the list with what each used, one with its jobs and people, the administrator's form."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.base.errors import InputError
from gridportal.base.time_presets import PRESETS
from gridportal.web.form_errors import add_input_error
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling.jobs.filters import JobFilterForm
from scheduling.jobs.project_models import Project
from scheduling.projects import selectors, services
from scheduling.projects.budget_messages import WHEN_USED, finding, may_take
from scheduling.projects.budget_selectors import budget_states
from scheduling.projects.core.budget_state import WhenUsed
from scheduling.projects.forms import ProjectForm, first_values
from scheduling.usage.asked_range import asked_range, range_text
from scheduling.usage.core.use_parts import Figures
from scheduling.usage.ranges import Range, recent

#: So many of the newest jobs stand on the page of a project.
MOST_JOBS = 50
#: And so many of the newest budgets.
MOST_BUDGETS = 12
_USUAL = "30d"


@require_safe
def projects(request: HttpRequest) -> HttpResponse:
    """All projects that this person sees, with the node-hours of a recent time."""
    form = JobFilterForm(request.GET, caller(request))
    moments = {name: value for name, value in form.values().items() if name in ("start", "until")}
    since = request.GET.get("since", _USUAL)
    since = since if since in PRESETS else _USUAL
    span = asked_range(moments, since)
    used = selectors.use_of_projects(caller(request), span)
    rows = [(row, used.get(row.pk, Figures())) for row in selectors.projects_of(caller(request))]
    context = {
        "rows": rows,
        "form": form,
        "since": "" if moments else since,
        "time": range_text(span) if moments else PRESETS[since][0],
        "presets": [(name, label) for name, (label, _) in PRESETS.items()],
        "sees_all": request.user.has_perm("scheduling.view_all_jobs"),
    }
    return render(request, "scheduling/projects/project_list.html", context)


@require_safe
def project(request: HttpRequest, name: str) -> HttpResponse:
    """One project with its people and its newest jobs."""
    row = get_object_or_404(selectors.projects_of(caller(request)), name=name)
    found = selectors.jobs_of(caller(request), row)
    context = {
        "project": row,
        "members": row.members.order_by("username"),
        "jobs": found[:MOST_JOBS],
        "total": found.count(),
        "used": selectors.use_of_projects(caller(request), _recent(_USUAL)).get(row.pk, Figures()),
        "sees_all": request.user.has_perm("scheduling.view_all_jobs"),
        **_budgets(row),
    }
    return render(request, "scheduling/projects/project.html", context)


def _budgets(row: Project) -> dict[str, Any]:
    """The newest budgets of a project, and how the one of today stands."""
    now, rows = timezone.now(), list(row.budgets.select_related("project")[:MOST_BUDGETS])
    states = list(zip(rows, budget_states(rows, now), strict=True))
    current = next(((budget, state) for budget, state in states if budget.is_current(now)), None)
    found = [
        {"budget": budget, "state": state, "when_used": WHEN_USED[WhenUsed(budget.when_used)]}
        for budget, state in states
    ]
    words = {"finding": finding(*current), "may_take": may_take(current[1])} if current else None
    return {"budgets": found, "current": words, "left_out": max(0, row.budgets.count() - len(found))}


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, name: str = "") -> HttpResponse:
    """A new project, or other values of one."""
    require_permission(request, "scheduling.manage_projects", "Administrators make and change projects.")
    row = get_object_or_404(Project, name=name) if name else None
    if request.method != "POST":
        return _form(request, row, _filled(row))
    form = ProjectForm(request.POST)
    if form.is_valid():
        try:
            saved = _saved(request, row, form)
        except InputError as error:
            add_input_error(form, error)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            return _form(request, row, form, 409)
        else:
            add_result(request, f"Project {saved.name}", saved.get_absolute_url(), "is saved.")
            return redirect(saved)
    if row is not None:
        row.refresh_from_db()
    return _form(request, row, form, 422)


def _filled(row: Project | None) -> ProjectForm:
    """The form as it is shown first."""
    return ProjectForm(initial=first_values(row)).show(first_values(row)) if row else ProjectForm()


def _saved(request: HttpRequest, row: Project | None, form: ProjectForm) -> Project:
    if row is None:
        return services.save_project(caller(request), None, **form.cleaned_data)
    pk = row.pk
    events = changes_of(row, "project.change")
    with unless_changed(request, lambda: first_values(Project.objects.get(pk=pk)), rows_of(row), events):
        return services.save_project(caller(request), row, **form.cleaned_data)


def _recent(since: str) -> Range:
    return recent(PRESETS[since][1]).in_days(timezone.now())


def _form(request: HttpRequest, row: Project | None, form: ProjectForm, status: int = 200) -> HttpResponse:
    context = {"project": row, "form": form}
    return render(request, "scheduling/projects/project_form.html", context, status=status)
