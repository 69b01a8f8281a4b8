"""Taking a candidate group by hand, while the skeleton is tried."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.pages.views.job import visible_job
from scheduling.placing.services import taking


@require_POST
def take(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a group while the skeleton is tried; the reason is kept."""
    shown_job = visible_job(request, pk)
    user = caller(request)
    if not user.has_perm("scheduling.control_job", shown_job):
        raise PermissionDenied(f"Only its owner or an operator may choose the group of job {pk}.")
    text = request.POST.get("candidate", "")
    place = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
    try:
        taking.take_candidate(user, shown_job, place, request.POST.get("reason", ""))
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        tasks.poll_runs.delay_on_commit(shown_job.cluster)
        outcome = f"starts on group {place + 1}, which you have chosen."
        add_result(request, f"Job {pk}", shown_job.get_absolute_url(), outcome)
    return redirect(shown_job)
