"""The page that compares jobs and their runs, and the way to it: the same job once more on random nodes."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.pages.charts import compared_runs as charts
from scheduling.pages.comparison import ComparedRun, also_differs, comparison, may_read_files
from scheduling.pages.comparison_messages import finding, reservations
from scheduling.pages.comparison_names import compared_runs
from scheduling.pages.form_messages import beside
from scheduling.pages.submitters import require_submitter
from scheduling.pages.views.job import visible_job, visible_run
from scheduling.placing.services.random_nodes import submit_with_random_nodes


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """`?runs=`: numbers of jobs, for their newest runs, or job.run; none shows the form alone. htmx gets the part that
    lives."""
    text = request.GET.get("runs", "").strip()
    context: dict[str, Any] = {"asked": text}
    try:
        find = partial(visible_job, request), partial(visible_run, request)
        context |= _shown(caller(request), compared_runs(text, *find)) if text else {}
    except InputError as error:
        context["problem"] = beside(error)
    live = getattr(request, "htmx", False)
    response = render(request, "scheduling/_compare_live.html" if live else "scheduling/compare.html", context)
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_POST
def random_nodes(request: HttpRequest, pk: int) -> HttpResponse:
    """Submit the same on random nodes, and lead to both side by side."""
    job = visible_job(request, pk)
    require_submitter(request)
    try:
        made, _ = submit_with_random_nodes(caller(request), job)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(job)
    tasks.place_soon(made)
    add_result(request, f"Job {made.pk}", made.get_absolute_url(), f"is submitted: job {pk} again, on random nodes.")
    return redirect(f"{reverse('jobs-compare')}?runs={pk},{made.pk}")


def _shown(user: User, runs: list[ComparedRun]) -> dict[str, Any]:
    parts = comparison(runs, names_files=may_read_files(user, runs))
    return {
        "runs": runs,
        "parts": parts,
        "finding": finding(runs),
        "reservations": reservations(runs, also_differs(parts)),
        "times_figure": charts.times(runs),
        "phases_figure": charts.phases(runs),
        "over": all(each.is_over for each in runs),
    }
