"""The pages on which managers give projects budgets."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, compare_shown
from gridportal.base.errors import ConflictError, InputError
from gridportal.web.form_errors import add_input_error
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling.jobs.project_models import Project
from scheduling.projects import budget_services
from scheduling.projects.budget_forms import BudgetForm, first_values
from scheduling.projects.models import Budget

_REFUSAL = "Managers and administrators give projects budgets."


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, name: str, pk: int | None = None) -> HttpResponse:
    """A new budget of a project, or other values of one."""
    require_permission(request, "scheduling.manage_budgets", _REFUSAL)
    project = get_object_or_404(Project, name=name)
    row = get_object_or_404(Budget.objects.select_related("project"), pk=pk, project=project) if pk else None
    if request.method != "POST":
        return _form(request, project, row, _filled(row))
    form = BudgetForm(request.POST)
    if not form.is_valid():
        return _form(request, project, row, form, 422)
    try:
        saved = _saved(request, project, row, form)
    except InputError as error:
        add_input_error(form, error)
        return _form(request, project, row, form, 422)
    except ConflictError as error:
        return _conflict(request, project, row, form, error)
    add_result(request, f"The budget of {project.name}", saved.get_absolute_url(), "is saved.")
    return redirect(saved)


def _saved(request: HttpRequest, project: Project, row: Budget | None, form: BudgetForm) -> Budget:
    reason = form.cleaned_data["reason"]
    if row is None:
        return budget_services.make_budget(caller(request), project, form.values(), reason)
    version = form.cleaned_data["version"]
    compare_shown(request, _shown(row), changes_of(row.project, "budget.change"))
    return budget_services.change_budget(caller(request), row.pk, form.values(), reason, version)


def _filled(row: Budget | None) -> BudgetForm:
    """The form as it is shown first."""
    return BudgetForm(initial=first_values(row)).show(_shown(row)) if row else BudgetForm()


def _shown(row: Budget) -> dict[str, Any]:
    """What a person sees of a budget."""
    return {name: value for name, value in first_values(row).items() if name != "version"}


def _conflict(
    request: HttpRequest, project: Project, row: Budget | None, form: BudgetForm, error: ConflictError
) -> HttpResponse:
    """The form as the second person has filled it in, and what the first one saved; to save again counts."""
    new = Budget.objects.get(pk=row.pk) if row else None
    if new and not isinstance(error, ChangedMeanwhileError):  # a page without the field of what it showed
        differ = [name for name, value in _shown(new).items() if form.cleaned_data[name] != value]
        error = ChangedMeanwhileError("Somebody else", "", differ or ["reason"], _shown(new) | {"reason": ""})
    if isinstance(error, ChangedMeanwhileError):
        error.show_on(form)
    if new:
        data = cast(QueryDict, form.data).copy()
        data["version"] = str(new.version)
        form.data = data
    return _form(request, project, new, form, 409)


def _form(
    request: HttpRequest, project: Project, row: Budget | None, form: BudgetForm, status: int = 200
) -> HttpResponse:
    context = {"project": project, "budget": row, "form": form}
    return render(request, "scheduling/projects/budget_form.html", context, status=status)
