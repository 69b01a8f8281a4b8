"""The page of logs that were read, for administrators, and their removal."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from gridportal.accounts.caller import caller
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.workload_logs.models import LoggedCluster
from scheduling.workload_logs.selectors import logs_with_jobs
from scheduling.workload_logs.services.removing_logs import ask_removal, log_jobs

_REFUSAL = "Only administrators remove logs that were read."


@require_safe
def logs(request: HttpRequest) -> HttpResponse:
    """Each log with its jobs."""
    require_permission(request, "scheduling.remove_workload_log", _REFUSAL)
    return render(request, "scheduling/logs/logs.html", {"rows": logs_with_jobs()})


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """Says what would go with a log; a worker removes it once somebody has confirmed that."""
    require_permission(request, "scheduling.remove_workload_log", _REFUSAL)
    row = get_object_or_404(LoggedCluster, name=name)
    if request.method != "POST":
        return render(request, "scheduling/logs/remove.html", {"log": row, "jobs": log_jobs(name).count()})
    ask_removal(caller(request), name)
    tasks.remove_log.delay_on_commit(name)
    add_result(request, f"Log {name}", row.get_absolute_url(), "is being removed.")
    return redirect("workload-logs")
