"""Moves of one job from its own page: whether and how it is moved at all."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_result
from scheduling.jobs.models import Job
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.services import policies


@require_POST
def change_policy(request: HttpRequest, pk: int) -> HttpResponse:
    """Say whether a job is moved at all; operators also say by which mode."""
    job = get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
    user, sent = request.user, request.POST
    if not user.has_perm("scheduling.opt_out_of_moves", job):
        if not user.has_perm("scheduling.view_job", job):
            raise Http404
        raise PermissionDenied(f"Only its owner or an operator may say how job {pk} is moved.")
    mode = sent.get("policy") if user.has_perm("scheduling.change_job_moves", job) else None
    try:
        own = policies.change_job_policy(caller(request), job, opted_out=sent.get("moves") == "never", policy=mode)
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, f"Job {pk}:", f"{job.get_absolute_url()}#moves", decision_messages.job_policy(own))
    return redirect(job)
