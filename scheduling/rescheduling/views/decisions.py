"""One decision on a move: its page, and what people decide on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.form_errors import by_label
from gridportal.web.long_answers import long_answer
from gridportal.web.result_messages import add_problem, add_result
from scheduling.checkpoints.core.targets import nodes_of, ranks_of
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import deciding, named_nodes
from scheduling.rescheduling.views.decision_story import decision_context, decision_summary

#: What a person enters, as the page calls it.
_LABELS = {"nodes": "Nodes", "ranks": "Ranks", "reason": "Reason"}


@require_safe
def migration(request: HttpRequest, pk: int) -> HttpResponse:
    """One decision: why now, from where to where, stay or move, and what was decided."""
    decision = _visible(request, pk)
    live = bool(getattr(request, "htmx", False))
    name = "_decision_live" if live else "decision"
    response = render(request, f"scheduling/migrations/{name}.html", decision_context(request, decision))
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_safe
def elsewhere(request: HttpRequest, pk: int) -> HttpResponse:
    """What moving to other nodes, or to another number of them, would bring; nothing is decided by looking.

    The page comes at once with what is wrong with the question, and asks for the figures then.
    """
    decision = _visible(request, pk)
    _may(request, "override")
    context: dict[str, Any] = {"decision": decision, "job": decision.job, "typed": request.GET}
    live = bool(getattr(request, "htmx", False))
    try:
        nodes, ranks = nodes_of(request.GET.get("nodes", "")) or (), ranks_of(request.GET.get("ranks", ""))
        named_nodes.check_named(nodes, ranks)
        if live:
            with long_answer(caller(request).pk):
                other = named_nodes.decision_there(decision, nodes, ranks)
            there = decision_summary(request, other)
            context = (
                there
                | context
                | {"there": there, "proposed": decision_summary(request, decision), "now": timezone.now()}
            )
    except GridPortalError as error:
        context["problem"] = by_label(error, _LABELS)
    name, status = ("elsewhere_figures", 200) if live else ("elsewhere", 422 if "problem" in context else 200)
    response = render(request, f"scheduling/migrations/{name}.html", context, status=status)
    patch_cache_control(response, no_store=True)
    return response


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Let the job move as proposed."""
    return _decide(request, pk, "approve", lambda user, each: deciding.approve(user, each, _reason(request)))


@require_POST
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Let it stay."""
    return _decide(request, pk, "refuse", lambda user, each: deciding.refuse(user, each, _reason(request)))


@require_POST
def override(request: HttpRequest, pk: int) -> HttpResponse:
    """Let it move to other nodes, or to another number of them."""

    def act(user: Any, each: MoveDecision) -> MoveDecision:
        nodes, ranks = nodes_of(request.POST.get("nodes", "")), ranks_of(request.POST.get("ranks", ""))
        return deciding.override(user, each, nodes or (), _reason(request), ranks)

    return _decide(request, pk, "override", act)


def _decide(request: HttpRequest, pk: int, verb: str, act: Callable[[Any, MoveDecision], MoveDecision]) -> HttpResponse:
    decision = _visible(request, pk)
    _may(request, verb)
    try:
        decided = act(caller(request), decision)
    except GridPortalError as error:
        if verb == "refuse" and isinstance(error, InputError) and error.field == "reason":
            wrong = {"refuse_error": f"Enter {error.accepted}.", "typed_reason": _reason(request)}
            context = decision_context(request, decision) | wrong
            return render(request, "scheduling/migrations/decision.html", context, status=422)
        add_problem(request, f"Decision {pk}", decision.get_absolute_url(), by_label(error, _LABELS))
        return redirect(decision)
    add_result(request, f"Decision {pk} on job {decided.job_id}", decided.get_absolute_url(), f"is {decided.state}.")
    return redirect(decision)


def _may(request: HttpRequest, verb: str) -> None:
    if not request.user.has_perm(f"scheduling.{verb}_move"):
        raise PermissionDenied(decision_messages.refusal(verb))


def _visible(request: HttpRequest, pk: int) -> MoveDecision:
    """The decision. Raises Http404, also for one that this person may not see."""
    rows = MoveDecision.objects.select_related("job__application", "job__owner", "continuation__target")
    decision = get_object_or_404(rows, pk=pk)
    user = request.user
    if not (user.has_perm("scheduling.view_moves") or user.has_perm("scheduling.view_job", decision.job)):
        raise Http404
    return decision


def _reason(request: HttpRequest) -> str:
    return request.POST.get("reason", "")
