"""What a run took of its nodes over time: a part of the page of its job, and a page of its own."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scheduling.pages.use_over_time import use_over_time
from scheduling.pages.views.job import visible_job, visible_run
from scheduling.runs.selectors import last_run


@require_safe
def use(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """The charts and the table, of the newest run without a number; only these where the page of the job asks."""
    job = visible_job(request, pk)
    run = last_run(job) if number is None else visible_run(request, pk, number)
    context = {"run": run, "job": job, "use": use_over_time(run) if run else None}
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, f"scheduling/use/{'charts' if is_part else 'page'}.html", context)
