"""Sweeps: the list of them, one with the table and the picture of its jobs, its CSV, and cancelling what is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.web.csv_stream import csv_response, plain_cell
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.jobs.group_models import JobGroup
from scheduling.pages.charts import sweep_chart
from scheduling.pages.sweep_list import sweep_list
from scheduling.pages.sweep_results import SweepTable, label, sweep_table
from scheduling.placing.services.many_jobs import Cancellations, cancel_jobs

_PER_PAGE = 50


@require_safe
def sweeps(request: HttpRequest) -> HttpResponse:
    """All that this person may see, or those with `?q=`; newest first unless `?sort=` says otherwise."""
    if usual := usual_view(request, "sweeps"):
        return usual
    text, sort = (request.GET.get(name, "").strip()[:100] for name in ("q", "sort"))
    page = Paginator(sweep_list(caller(request), text, sort), _PER_PAGE).get_page(request.GET.get("page"))
    sees_all = request.user.has_perm("scheduling.view_all_jobs")
    context = {
        "page": page,
        "total": page.paginator.count,
        "q": text,
        "sort": sort,
        "sees_all": sees_all,
        **list_context(request, "sweeps", lacks=() if sees_all else ("owner",)),
    }
    return render(request, "scheduling/sweeps/list.html", context)


@require_safe
def sweep(request: HttpRequest, pk: int) -> HttpResponse:
    """`?over=` names a parameter and `?figure=` a figure, for the picture. htmx gets the part that lives."""
    group = _visible(request, pk)
    live = getattr(request, "htmx", False)
    template = "scheduling/sweeps/_sweep_live.html" if live else "scheduling/sweeps/sweep.html"
    response = render(request, template, _shown(request, sweep_table(group)))
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_safe
def sweep_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """A row for each job: its values, state, nodes and figures."""
    table = sweep_table(_visible(request, pk))
    columns = ["job", *table.group.values_by_axis, "state", "node_count", *table.figures, "warning"]
    return csv_response(f"sweep-{pk}.csv", columns, _cells(table))


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel all its jobs that are not over."""
    group = _visible(request, pk)
    require_permission(
        request, "scheduling.cancel_job_group", f"Only its owner or an operator may cancel sweep {pk}.", group
    )
    outcome = cancel_jobs(caller(request), [job for job in group.jobs.order_by("pk") if not job.is_final])
    for number in outcome.stopping:
        tasks.cancel_run.delay_on_commit(number)
    for sentence in outcome.refused.values():
        messages.error(request, sentence)
    add_result(request, f"Sweep {pk}", group.get_absolute_url(), _summary(outcome))
    return redirect(group)


def _summary(outcome: Cancellations) -> str:
    """What happened to how many jobs."""
    parts = [
        f"{len(numbers)} {words}"
        for numbers, words in ((outcome.cancelled, "cancelled"), (outcome.stopping, "being stopped"))
        if numbers
    ]
    return f"jobs: {', '.join(parts)}." if parts else "had no job left to cancel."


def _visible(request: HttpRequest, pk: int) -> JobGroup:
    group = get_object_or_404(JobGroup.objects.select_related("owner", "application"), pk=pk)
    if not request.user.has_perm("scheduling.view_job_group", group):
        raise Http404
    return group


def _shown(request: HttpRequest, table: SweepTable) -> dict[str, Any]:
    """What is shown; a parameter or a figure that there is not is taken as the first one."""
    group, axes = table.group, list(table.group.values_by_axis)
    over = _one_of(axes, request.GET.get("over"), _widest(group))
    figure = _one_of(table.figures, request.GET.get("figure"), next(iter(table.figures), ""))
    return {
        "group": group,
        "table": table,
        "axes": axes,
        "figures": [(name, label(name)) for name in table.figures],
        "over": over,
        "figure": figure,
        "figure_label": label(figure),
        "chart": sweep_chart.figure(table, over, figure) if figure else None,
        "finding": table.finding(figure) if figure else "",
        "may_cancel": not table.is_over and request.user.has_perm("scheduling.cancel_job_group", group),
        "left": sum(not row.job.is_final for row in table.rows),
    }


def _one_of(names: list[str], asked: str | None, usual: str) -> str:
    return asked if asked in names else usual


def _widest(group: JobGroup) -> str:
    """The parameter with the most values."""
    return max(group.values_by_axis, key=lambda name: len(group.values_by_axis[name]))


def _cells(table: SweepTable) -> Iterator[list[object]]:
    for row, values, figures in table.lines:
        cells = (row.job.pk, *values, row.job.state, row.job.node_count, *figures, row.warning)
        yield [plain_cell(cell) for cell in cells]
