"""Having a job stopped with a checkpoint and go on elsewhere, from its page."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from scheduling import tasks
from scheduling.checkpoints.core.targets import nodes_of, ranks_of
from scheduling.checkpoints.services import requesting
from scheduling.jobs.core.states import JobState
from scheduling.pages.views import refused_moves
from scheduling.pages.views.job import visible_job


@require_POST
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for it; what cannot be is said, and nothing is stopped then."""
    found = visible_job(request, pk)
    user = caller(request)
    if not user.has_perm("scheduling.move_job", found):
        raise PermissionDenied(f"Only its owner or an operator may have job {pk} stopped and go on elsewhere.")
    sent, runs = request.POST, found.state == JobState.RUNNING
    try:
        ranks = ranks_of(sent.get("ranks", ""))
        reason = sent.get("reason", "")
        requesting.stop_and_continue(found, by=user, nodes=nodes_of(sent.get("nodes", "")), ranks=ranks, reason=reason)
    except GridPortalError as error:
        messages.error(request, str(error))
        refused_moves.keep(request, pk, str(error))
    else:
        tasks.continue_jobs.delay_on_commit(found.cluster)
        then = "then it is stopped, and goes on there" if runs else "then it goes on there from what it left"
        messages.success(request, f"Job {pk}: its nodes are chosen now; {then}.")
    return redirect(found)
