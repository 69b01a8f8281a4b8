"""Having a move of a job weighed, and the page on which somebody waits for that."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.result_messages import add_problem
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.pages.views.job import visible_job
from scheduling.rescheduling import decision_messages, selectors
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import weighing_requests


@require_POST
def propose(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a move of a job weighed; its page says how far that is, and leads to the decision."""
    job = get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
    if not request.user.has_perm("scheduling.propose_move", job):
        visible_job(request, pk)
        raise PermissionDenied(f"Only its owner or an operator may propose to move job {pk}.")
    try:
        asked = weighing_requests.ask(caller(request), job)
    except GridPortalError as error:
        _say_why_not(request, job, str(error))
        return redirect(job)
    tasks.reschedule.delay_on_commit()
    return redirect(asked)


def _say_why_not(request: HttpRequest, job: Job, problem: str) -> None:
    """With the decision that is open already, where that is why."""
    if decision := selectors.open_decision(job):
        add_problem(request, f"Decision {decision.pk}", decision.get_absolute_url(), problem)
    else:
        messages.error(request, problem)


@require_safe
def weighing(request: HttpRequest, pk: int) -> HttpResponse:
    """How far a weighing is that somebody asked for; once it is over, its decision."""
    asked = get_object_or_404(
        WeighingRequest.objects.select_related("job__application", "job__owner", "asked_by"), pk=pk
    )
    user, live = request.user, bool(getattr(request, "htmx", False))
    if not (user.has_perm("scheduling.view_moves") or user.has_perm("scheduling.view_job", asked.job)):
        raise Http404
    if asked.decision is not None and not asked.problem:
        address = asked.decision.get_absolute_url()
        return HttpResponseClientRedirect(address) if live else redirect(address)
    name = "_weighing_live" if live else "weighing"
    context = {"asked": asked, "job": asked.job, "words": decision_messages.progress_of(asked), "fragment": live}
    response = render(request, f"scheduling/migrations/{name}.html", context)
    if live:
        patch_cache_control(response, no_store=True)
    return response
