"""Experiments of the papers: what was run, what was found, down to single runs; operators start and stop them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError, InputError
from gridportal.experiments import registry, selectors, tasks, trials_csv
from gridportal.experiments.charts import has_marks
from gridportal.experiments.forms import ExperimentForm
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import Plan
from gridportal.experiments.services import requests
from gridportal.experiments.states import CANCELLABLE, RESUMABLE
from gridportal.experiments.trial_columns import RUN_COLUMNS, Column
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_result

_MOST_TRIALS = 200


@require_safe
def experiments(request: HttpRequest) -> HttpResponse:
    """All of them, newest first, and the form to start one."""
    return _list(request, ExperimentForm())


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Put one into the line."""
    _may_run(request)
    form = ExperimentForm(request.POST)
    if not form.is_valid():
        return _list(request, form, status=422)
    user = caller(request)
    try:
        row = requests.start(user, Plan(**form.cleaned_data))
    except GridPortalError as error:
        field = error.field if isinstance(error, InputError) and error.field in form.fields else "seed"
        form.add_error(field, str(error))
        return _list(request, form, status=422)
    tasks.tend_experiments.delay_on_commit()
    add_result(request, str(row), row.get_absolute_url(), "waits for its turn. It starts as soon as no other runs.")
    return redirect(row)


@require_safe
def newest(request: HttpRequest, name: str) -> HttpResponse:
    """The newest one of this name; the list where there is none."""
    return redirect(selectors.newest(name) or "experiments")


@require_safe
def experiment(request: HttpRequest, pk: int) -> HttpResponse:
    """What one found."""
    return render(request, "experiments/experiment.html", _context(request, get_object_or_404(Experiment, pk=pk)))


@require_safe
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that changes."""
    context = _context(request, get_object_or_404(Experiment, pk=pk))
    response = render(request, "experiments/_experiment_live.html", context | {"fragment": True})
    patch_cache_control(response, no_store=True)
    return response


@require_safe
def trials(request: HttpRequest, pk: int) -> HttpResponse:
    """All trials as a table for other programs."""
    row = get_object_or_404(Experiment, pk=pk)
    text = trials_csv.text(selectors.trials(row), _columns(row))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{row.name}-{row.seed}-trials.csv"'
    return response


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End one after the trial it is at."""
    return _act(request, pk, requests.cancel, "ends after the trial it is at; it can be resumed")


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with one that was stopped."""
    return _act(request, pk, requests.resume, "goes on where it was as soon as no other runs")


def _act(request: HttpRequest, pk: int, verb: Callable[..., Experiment], message: str) -> HttpResponse:
    _may_run(request)
    row = get_object_or_404(Experiment, pk=pk)
    try:
        row = verb(caller(request), row)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(row)
    tasks.tend_experiments.delay_on_commit()
    add_result(request, str(row), row.get_absolute_url(), f"{message}.")
    return redirect(row)


def _may_run(request: HttpRequest) -> None:
    user = caller(request)
    if not user.has_perm("experiments.run_experiment"):
        raise PermissionDenied("Only operators and administrators may start, cancel and resume experiments.")


def _list(request: HttpRequest, form: ExperimentForm, status: int = 200) -> HttpResponse:
    rows = [(row, selectors.finding(row)) for row in selectors.listed()]
    run = selectors.names_run()
    about = [(each, each.name in run) for each in registry.experiments()]
    context = {"rows": rows, "form": form, "about": about}
    return render(request, "experiments/experiment_list.html", context, status=status)


def _context(request: HttpRequest, row: Experiment) -> dict[str, Any]:
    user = caller(request)
    return {
        "experiment": row,
        "failed": row.result["failed"] if row.result else {},
        "may_run": user.has_perm("experiments.run_experiment"),
        "may_cancel": row.state in CANCELLABLE,
        "may_resume": row.state in RESUMABLE,
        **_measured(row),
        **_single_trials(row),
    }


def _measured(row: Experiment) -> dict[str, Any]:
    """What the experiment makes of the result so far; nothing where it was taken out of the portal."""
    described = registry.find(row.name)
    if described is None:
        return {"about": "This experiment was taken out of the portal; its trials were kept."}
    texts = {"about": described.about, "caption": described.caption, "methods": described.methods.items()}
    if not row.result:
        return texts
    figure = described.figure(row.result)
    return {
        **texts,
        "finding": described.finding(row.result),
        "figure": figure if has_marks(figure) else None,
        "tables": [table for table in described.tables(row.result) if table.rows],
    }


def _single_trials(row: Experiment) -> dict[str, Any]:
    """The last of its trials, each with its figures; and how many there are before them."""
    columns, all_trials = _columns(row), list(selectors.trials(row).items())
    lines = [
        (key, "error" in trial, [(column.is_text, column.shown(trial)) for column in columns])
        for key, trial in all_trials[-_MOST_TRIALS:]
    ]
    return {"columns": columns, "trials": lines, "left_out": max(0, len(all_trials) - _MOST_TRIALS)}


def _columns(row: Experiment) -> tuple[Column, ...]:
    described = registry.find(row.name)
    return tuple(described.columns if described else RUN_COLUMNS)
