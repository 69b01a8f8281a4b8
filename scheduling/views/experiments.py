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

from gridportal.errors import GridPortalError
from gridportal.experiments import catalogue
from scheduling import tasks
from scheduling.charts import experiment_tables as tables
from scheduling.charts import experiments as charts
from scheduling.charts import trials_csv as csv
from scheduling.experiment_form import ExperimentForm
from scheduling.models import Experiment
from scheduling.models_experiments import FAILED, QUEUED, RUNNING, STOPPED
from scheduling.services import experiments as services

_MOST_RUNS = 200
_ABOUT = {
    "slowdown": "Pattern 2003, section 3: by how much traffic slows programs down, by how their nodes were chosen.",
    "loadtraffic": "Selection 1999, table 1: what automatic selection saves where others compute and send.",
    "skeletons": "How well skeletons foretell their programs on other nodes and under other traffic.",
    "telemetry": "Whether probes, flow queries, loads and selection tell the truth on a busy network.",
}
#: What the columns of a result are called, in words.
_METHODS = {
    "slowdown": {
        "random": "any four nodes",
        "all-all": "the group whose slowest pair of nodes is the fastest",
        "pattern-only": "the same for the pairs of ranks that talk, as the program's profile shows them",
        "pattern": "the best three such groups are tried with the program's skeleton: the paper's method",
        "oracle": "the best in hindsight: the program itself ran on several groups",
    },
    "loadtraffic": {
        "random": "any nodes",
        "automatic": "the balanced method with all that talk talking at once: processors and links as free as can be",
    },
}


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
    given = form.cleaned_data
    user: Any = request.user
    try:
        row = services.start(user, given["name"], given["seed"], full=given["full"])
    except GridPortalError as error:
        form.add_error("seed", str(error))
        return _list(request, form, status=422)
    tasks.tend_experiments.delay_on_commit()
    messages.success(request, f"{row} waits for its turn; it starts in some seconds when no other runs.")
    return redirect(row)


@require_safe
def newest(request: HttpRequest, name: str) -> HttpResponse:
    """The newest one of this name; the list where there is none."""
    row = Experiment.objects.filter(name=name).first()
    if row is None and name not in catalogue.NAMES:
        return redirect("experiments")
    return redirect(row or "experiments")


@require_safe
def experiment(request: HttpRequest, pk: int) -> HttpResponse:
    """What one found."""
    return render(request, "scheduling/experiment.html", _context(request, get_object_or_404(Experiment, pk=pk)))


@require_safe
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that changes."""
    context = _context(request, get_object_or_404(Experiment, pk=pk))
    response = render(request, "scheduling/_experiment_live.html", context | {"fragment": True})
    patch_cache_control(response, no_store=True)
    return response


@require_safe
def trials_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """All trials as a table for other programs."""
    row = get_object_or_404(Experiment, pk=pk)
    text = csv.text(tables.runs(services.trials(row)))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{row.name}-{row.seed}-trials.csv"'
    return response


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End one after the trial it is at."""
    return _act(request, pk, services.cancel, "ends after the trial it is at; it can be resumed")


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with one that was stopped."""
    return _act(request, pk, services.resume, "goes on where it was as soon as no other runs")


def _act(request: HttpRequest, pk: int, verb: Callable[..., Experiment], words: str) -> HttpResponse:
    _may_run(request)
    row = get_object_or_404(Experiment, pk=pk)
    try:
        row = verb(request.user, row)
    except GridPortalError as error:
        messages.error(request, str(error))
        return redirect(row)
    tasks.tend_experiments.delay_on_commit()
    messages.success(request, f"{row} {words}.")
    return redirect(row)


def _may_run(request: HttpRequest) -> None:
    user: Any = request.user
    if not user.has_perm("scheduling.run_experiment"):
        raise PermissionDenied("Only operators may start, cancel and resume experiments.")


def _list(request: HttpRequest, form: ExperimentForm, status: int = 200) -> HttpResponse:
    rows = [(row, charts.finding(row.name, row.result) if row.result else "") for row in Experiment.objects.all()[:100]]
    run = set(Experiment.objects.values_list("name", flat=True))
    about = [(name, words, catalogue.TAKES[name], name in run) for name, words in _ABOUT.items()]
    context = {"rows": rows, "form": form, "about": about}
    return render(request, "scheduling/experiment_list.html", context, status=status)


def _context(request: HttpRequest, row: Experiment) -> dict[str, Any]:
    result = row.result
    runs = tables.runs(services.trials(row))
    user: Any = request.user
    return {
        "experiment": row,
        "about": _ABOUT[row.name],
        "figure": charts.figure(row.name, result) if result else None,
        "finding": charts.finding(row.name, result) if result else "",
        "words": charts.words(row.name),
        "methods": _METHODS.get(row.name, {}).items(),
        "tables": tables.tables(row.name, result) if result else [],
        "failed": result["failed"] if result else {},
        "runs": runs[-_MOST_RUNS:],
        "left_out": max(0, len(runs) - _MOST_RUNS),
        "may_run": user.has_perm("scheduling.run_experiment"),
        "may_cancel": row.state in (QUEUED, RUNNING),
        "may_resume": row.state in (STOPPED, FAILED),
    }
