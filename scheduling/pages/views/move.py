"""Having a job stopped with a checkpoint and go on elsewhere, from its page."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.long_answers import long_answer
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.checkpoints.core.targets import nodes_of, ranks_of
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.pages.views import refused_moves
from scheduling.pages.views.job import visible_job
from scheduling.rescheduling.core.expected_move import ExpectedMove
from scheduling.rescheduling.services import expected_moves


def _movable_job(request: HttpRequest, pk: int) -> Job:
    """The job, where this person may have it moved."""
    found = visible_job(request, pk)
    if not caller(request).has_perm("scheduling.move_job", found):
        raise PermissionDenied(f"Only its owner or an operator may have job {pk} stopped and go on elsewhere.")
    return found


@require_safe
def expected(request: HttpRequest, pk: int) -> HttpResponse:
    """What it is expected to take with what was typed, as a part of the dialog; nothing is stopped."""
    found, sent = _movable_job(request, pk), request.GET
    try:
        with long_answer(caller(request).pk):
            nodes, ranks = nodes_of(sent.get("nodes", "")), ranks_of(sent.get("ranks", ""))
            shown: ExpectedMove | None = expected_moves.expected(found, nodes, ranks)
            problem = ""
    except GridPortalError as error:
        shown, problem = None, page_text(error)
    context = {"job": found, "expected": shown, "problem": problem}
    response = render(request, "scheduling/job/expected_move.html", context)
    patch_cache_control(response, no_store=True)
    return response


@require_POST
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for it; what cannot be is said, and nothing is stopped then."""
    found = _movable_job(request, pk)
    user = caller(request)
    sent, runs = request.POST, found.state == JobState.RUNNING
    try:
        ranks = ranks_of(sent.get("ranks", ""))
        reason = sent.get("reason", "")
        expected_moves.move(found, by=user, nodes=nodes_of(sent.get("nodes", "")), ranks=ranks, reason=reason)
    except GridPortalError as error:
        problem = page_text(error)
        messages.error(request, problem)
        refused_moves.keep(request, pk, problem)
    else:
        tasks.continue_jobs.delay_on_commit(found.cluster)
        then = "then it is stopped, and goes on there" if runs else "then it goes on there from what it left"
        outcome = f"is to go on elsewhere: its nodes are chosen now; {then}."
        add_result(request, f"Job {pk}", f"{found.get_absolute_url()}#moves", outcome)
    return redirect(found)
