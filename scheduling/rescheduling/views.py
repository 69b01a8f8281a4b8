"""Migrations: proposals that wait for somebody, moves under way and done, what stayed, and by which rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import GridPortalError
from gridportal.web.csv_stream import csv_response, plain_cell
from gridportal.web.paging import LongList, page_of
from scheduling.jobs.models import Job
from scheduling.rescheduling import charts, decision_messages, selectors
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.core.weighing import MoveMode
from scheduling.rescheduling.forms import PolicyForm
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import deciding, policies, weighing_jobs

PER_PAGE = 50
_MOST_RANKS = 256
_LISTS: Mapping[str, Callable[[], Any]] = {"moved": selectors.moved, "not-moved": selectors.not_moved}
TABS = (
    ("", "Waiting"),
    ("moved", "Moved"),
    ("not-moved", "Not moved"),
    ("calibration", "Calibration"),
    ("rules", "Modes and windows"),
)
COLUMNS = (
    *("decision", "job", "application", "cluster", "mode", "state", "verdict", "by", "reason", "created"),
    *("nodes_now", "nodes", "ret_current", "ret_new", "cost", "cost_kind", "gain", "threshold"),
    *("real_gain", "real_saved"),
)


@require_safe
def migrations(request: HttpRequest) -> HttpResponse:
    """One tab of the page; htmx gets only the part that lives."""
    _may_look(request)
    show = request.GET.get("show", "")
    show = show if show in dict(TABS) else ""
    context = {"show": show, "tabs": TABS, "waiting": selectors.proposals().count(), **_tab(request, show)}
    live = bool(getattr(request, "htmx", False))
    name = "_live" if live else "page"
    response = render(request, f"scheduling/migrations/{name}.html", context | {"fragment": live})
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_safe
def migrations_csv(request: HttpRequest) -> StreamingHttpResponse:
    """All decisions, the newest first."""
    _may_look(request)
    rows = MoveDecision.objects.select_related("job__application").order_by("-pk").iterator(chunk_size=500)
    return csv_response("migrations.csv", COLUMNS, (_line(each) for each in rows))


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
    """Let it move to other nodes."""
    nodes = request.POST.get("nodes", "").replace(",", " ").split()
    return _decide(request, pk, "override", lambda user, each: deciding.override(user, each, nodes, _reason(request)))


@require_POST
def propose(request: HttpRequest, pk: int) -> HttpResponse:
    """Weigh a move of a job because somebody asks."""
    job = get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
    if not request.user.has_perm("scheduling.propose_move", job):
        raise PermissionDenied(f"Only its owner or an operator may propose to move job {pk}.")
    try:
        decision = weighing_jobs.weigh_on_request(caller(request), job)
    except GridPortalError as error:
        messages.error(request, str(error))
        return redirect(job)
    messages.success(request, decision_messages.finding(decision))
    return redirect(decision)


@require_POST
def change_rules(request: HttpRequest, cluster: str) -> HttpResponse:
    """Change how jobs of a cluster are moved."""
    if not request.user.has_perm("scheduling.change_move_policy"):
        raise PermissionDenied("Only operators may change how jobs are moved.")
    form = PolicyForm(request.POST)
    if form.is_valid():
        try:
            policies.change_policy(caller(request), cluster, form.cleaned_data)
        except GridPortalError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Moves on {cluster} follow these rules from now on.")
            return redirect("/migrations/?show=rules")
    context = {"show": "rules", "tabs": TABS, "waiting": selectors.proposals().count(), **_tab(request, "rules")}
    context["policies"] = [(name, form if name == cluster else each) for name, each in context["policies"]]
    return render(request, "scheduling/migrations/page.html", context, status=422)


def decision_context(request: HttpRequest, decision: MoveDecision) -> dict[str, Any]:
    """What the page of one decision shows."""
    costs = decision.costs_by_kind
    count = min(_MOST_RANKS, max(len(decision.nodes_now), len(decision.nodes)))
    phases = [phase for phase in CostPhase if any(phase in cost.seconds for cost in costs.values())]
    predicted, worst = (costs.get(kind) for kind in (CostKind.PREDICTED, CostKind.WORST_CASE))
    return {
        "decision": decision,
        "job": decision.job,
        "title": decision_messages.title(decision),
        "finding": decision_messages.finding(decision),
        "stay_or_move": decision_messages.stay_or_move(decision),
        "formula": decision_messages.formula(decision),
        "outcome": decision_messages.outcome(decision),
        "mode_words": decision_messages.MODES[MoveMode(decision.mode)],
        "cost_words": decision_messages.COSTS[CostKind(decision.cost_kind)],
        "ranks": list(zip_longest(range(count), decision.nodes_now[:count], decision.nodes[:count])),
        "left_out": max(len(decision.nodes_now), len(decision.nodes)) - count,
        "over": MoveDecision.life.is_final(decision.state),
        "events": decision.events.all(),
        "figure": charts.ways(decision),
        "legend": charts.LEGEND,
        "cost_rows": [
            (decision_messages.PHASES[phase], *(cost and cost.seconds.get(phase) for cost in (predicted, worst)))
            for phase in phases
        ],
        "predicted": predicted,
        "worst": worst,
        "may_decide": decision.state == "proposed" and request.user.has_perm("scheduling.decide_move"),
        "fragment": bool(getattr(request, "htmx", False)),
    }


def _tab(request: HttpRequest, show: str) -> dict[str, Any]:
    if show in _LISTS:
        page = page_of(LongList(_LISTS[show]()), PER_PAGE, request.GET.get("page"))
        return {"page": page, "total": page.paginator.count, "rows": decision_messages.decision_rows(page.object_list)}
    if show == "calibration":
        done = list(selectors.moved().filter(state="verified")[:500])
        return {"figure": charts.calibration(done), "rows": decision_messages.decision_rows(done)}
    if show == "rules":
        rows = [(name, PolicyForm(initial=PolicyForm.initial_of(selectors.policy(name)))) for name in settings.CLUSTERS]
        return {"policies": rows, "may_change": request.user.has_perm("scheduling.change_move_policy")}
    proposals = [decision_context(request, each) for each in selectors.proposals()[:PER_PAGE]]
    return {"proposals": proposals, "under_way": decision_messages.decision_rows(selectors.under_way()[:PER_PAGE])}


def _decide(request: HttpRequest, pk: int, verb: str, act: Callable[[Any, MoveDecision], MoveDecision]) -> HttpResponse:
    decision = _visible(request, pk)
    if not request.user.has_perm("scheduling.decide_move"):
        raise PermissionDenied(f"Only operators may {verb} moves.")
    try:
        decided = act(caller(request), decision)
    except GridPortalError as error:
        messages.error(request, str(error))
        return redirect(decision)
    messages.success(request, f"Decision {pk} on job {decided.job_id} is {decided.state}.")
    return redirect(decision)


def _visible(request: HttpRequest, pk: int) -> MoveDecision:
    """The decision, or a refusal in words."""
    decision = get_object_or_404(MoveDecision.objects.select_related("job__application", "job__owner"), pk=pk)
    if not request.user.has_perm("scheduling.view_job", decision.job):
        raise PermissionDenied(f"Decision {pk} is about a job of another person.")
    return decision


def _may_look(request: HttpRequest) -> None:
    if not request.user.has_perm("scheduling.view_moves"):
        raise PermissionDenied("Operators and managers see migrations; those of your own job stand on its page.")


def _reason(request: HttpRequest) -> str:
    return request.POST.get("reason", "")


def _line(each: MoveDecision) -> list[Any]:
    about = [each.pk, each.job_id, each.job.application.slug, each.cluster, each.mode, each.state, each.verdict]
    decided = [each.by, each.why, each.created_at.isoformat(), " ".join(each.nodes_now), " ".join(each.nodes)]
    figures = [each.ret_current, each.ret_new, each.cost, each.cost_kind, each.gain, each.threshold]
    cells = [*about, *decided, *figures, each.outcome.get("gain"), each.outcome.get("saved")]
    return [plain_cell(cell) for cell in cells]
