"""Migrations: proposals that wait for somebody, moves under way and done, what stayed, and by which rules. Who may not
see those of all jobs sees those of the own ones."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, unless_changed
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.csv_stream import csv_response, plain_cell
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.paging import page_of
from gridportal.web.result_messages import add_result
from gridportal.web.sorting import ColumnSort, SortedList, by_column
from scheduling.rescheduling import decision_messages, selectors
from scheduling.rescheduling.charts import calibration
from scheduling.rescheduling.core.move_kinds import MoveKind
from scheduling.rescheduling.forms import PolicyForm
from scheduling.rescheduling.models import MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.other_moves import OtherMove, other_moves
from scheduling.rescheduling.place_messages import KINDS
from scheduling.rescheduling.services import policies
from scheduling.rescheduling.views.decision_story import decision_summary

PER_PAGE = 50
_MOST_VERIFIED = 500
_LISTS: Mapping[str, Callable[[], Any]] = {"moved": selectors.moved, "not-moved": selectors.not_moved}
#: By what the lists sort. What follows from other rows than the decision's own is not among them.
SORTS: Mapping[str, ColumnSort] = {
    "decision": by_column("pk"),
    "job": by_column("job_id"),
    "state": by_column("state"),
    "cluster": by_column("cluster"),
    "mode": by_column("mode"),
    "gain": by_column("gain"),
    "real_gain": ColumnSort(("outcome",), lambda outcome: outcome.get("gain")),
    "cost": by_column("cost"),
    "real_cost": by_column("continuation__total"),
    "by": ColumnSort(("by",), lambda person: person.casefold() or "portal"),
    "when": by_column("state_since"),
}
TABS = (
    ("", "Waiting"),
    ("moved", "Moved"),
    ("not-moved", "Not moved"),
    ("calibration", "Calibration"),
    ("rules", "Modes and windows"),
)
#: The first of them are of single jobs, which their owners see.
_OWN_TABS = 3
COLUMNS = (
    *("decision", "job", "application", "cluster", "mode", "state", "verdict", "by", "reason", "created"),
    *("nodes_now", "nodes", "ret_current", "ret_new", "cost", "cost_kind", "gain", "threshold"),
    *("real_gain", "real_saved", "would_have_gained", "kind"),
)


@require_safe
def migrations(request: HttpRequest) -> HttpResponse:
    """One tab of the page; htmx gets only the part that lives."""
    if usual := usual_view(request, "migrations"):
        return usual
    show = request.GET.get("show", "")
    tabs = TABS if _sees_all(request) else TABS[:_OWN_TABS]
    show = show if show in dict(tabs) else ""
    context = {
        "show": show,
        "tabs": tabs,
        "waiting": _seen(request, selectors.proposals()).count(),
        "sees_all": _sees_all(request),
        **_tab(request, show),
    }
    context |= list_context(request, "migrations")
    live = bool(getattr(request, "htmx", False))
    name = "_live" if live else "page"
    response = render(request, f"scheduling/migrations/{name}.html", context | {"fragment": live})
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_safe
def migrations_csv(request: HttpRequest) -> StreamingHttpResponse:
    """All decisions and all moves that none asked for, the newest first."""
    rows = _seen(request, MoveDecision.objects.select_related("job__application").order_by("-pk"))
    decisions = ((each.created_at, _line(each)) for each in rows.iterator(chunk_size=500))
    others = ((each.settled, _other_line(each)) for each in other_moves(_owner(request)))
    lines = heapq.merge(decisions, others, key=lambda dated: dated[0], reverse=True)
    return csv_response("migrations.csv", COLUMNS, (line for _, line in lines))


@require_POST
def change_rules(request: HttpRequest, cluster: str) -> HttpResponse:
    """Change how jobs of a cluster are moved."""
    if not request.user.has_perm("scheduling.change_move_policy"):
        raise PermissionDenied("Only operators and administrators may change how jobs are moved.")
    form, status = PolicyForm(request.POST), 422
    if form.is_valid():
        try:
            rows = ReschedulingPolicy.objects.filter(cluster=cluster)
            events = changes_of(selectors.policy(cluster), "moves.change_policy")
            with unless_changed(request, partial(_shown_rules, cluster), rows, events):
                policies.change_policy(caller(request), cluster, form.cleaned_data)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            status = 409
        except InputError as error:
            add_input_error(form, _at_its_field(error, form))
        except GridPortalError as error:
            messages.error(request, page_text(error))
        else:
            address = f"{reverse('migrations')}?show=rules"
            add_result(request, f"Moves on {cluster}", address, "follow these rules from now on.")
            return redirect(address)
    context = {"show": "rules", "tabs": TABS, "waiting": selectors.proposals().count(), **_tab(request, "rules")}
    context["sees_all"] = True
    context |= list_context(request, "migrations")
    context["policies"] = [(name, form if name == cluster else each) for name, each in context["policies"]]
    return render(request, "scheduling/migrations/page.html", context, status=status)


def _at_its_field(error: InputError, form: PolicyForm) -> InputError:
    """A window that cannot be read is of the allowed or of the denied hours."""
    if error.field != "window":
        return error
    lines = {name: str(form.cleaned_data[name]).splitlines() for name in ("allow", "deny")}
    field = next((name for name, all_ in lines.items() if str(error.value) in map(str.strip, all_)), "deny")
    return InputError(field, error.value, error.accepted)


def _tab(request: HttpRequest, show: str) -> dict[str, Any]:
    if show in _LISTS:
        found = SortedList(_seen(request, _LISTS[show]()), request.GET.get("sort", ""), SORTS)
        page = page_of(found, PER_PAGE, request.GET.get("page"))
        return {
            "page": page,
            "total": page.paginator.count,
            "rows": decision_messages.decision_rows(selectors.with_missed(page.object_list)),
            "summary": _summary(request, show),
            "by_hand": _by_hand(request) if show == "moved" else (),
            "sort": found.sort,
            "unsorted": found.unsorted,
        }
    if show == "calibration":
        done = list(selectors.moved().filter(state="verified")[:500])
        return {
            "figure": calibration.figure(done),
            "rows": decision_messages.decision_rows(selectors.with_missed(done)),
        }
    if show == "rules":
        forms = [(name, _rules_form(name)) for name in settings.CLUSTERS]
        return {"policies": forms, "may_change": request.user.has_perm("scheduling.change_move_policy")}
    proposals = [decision_summary(request, each) for each in _seen(request, selectors.proposals())[:PER_PAGE]]
    moving = _seen(request, selectors.under_way())[:PER_PAGE]
    under_way = [(each, selectors.progress_of(each, timezone.now())) for each in moving]
    return {"proposals": proposals, "under_way": under_way}


def _rules_form(cluster: str) -> PolicyForm:
    values = _shown_rules(cluster)
    return PolicyForm(initial=dict(values)).show(values)


def _shown_rules(cluster: str) -> Mapping[str, object]:
    return PolicyForm.initial_of(selectors.policy(cluster))


def _summary(request: HttpRequest, show: str) -> str:
    """The sentence over a list: how decisions turned out."""
    return decision_messages.moved_summary(selectors.moves_sum()) if show == "moved" and _sees_all(request) else ""


def _by_hand(request: HttpRequest) -> list[tuple[OtherMove, str]]:
    """The newest moves that no decision asked for, and what each was."""
    return [(each, KINDS[each.kind]) for each in islice(other_moves(_owner(request)), PER_PAGE)]


def _owner(request: HttpRequest) -> int | None:
    """Of whose jobs this person may see moves; None: of all."""
    return None if _sees_all(request) else caller(request).pk


def _sees_all(request: HttpRequest) -> bool:
    return request.user.has_perm("scheduling.view_moves")


def _seen(request: HttpRequest, decisions: QuerySet[MoveDecision]) -> QuerySet[MoveDecision]:
    """Those that this person may see: of all jobs, or of the own ones."""
    return decisions if _sees_all(request) else decisions.filter(job__owner=caller(request).pk)


def _line(each: MoveDecision) -> list[Any]:
    about = [each.pk, each.job_id, each.job.application.slug, each.cluster, each.mode, each.state, each.verdict]
    decided = [each.by, each.why, each.created_at.isoformat(), " ".join(each.nodes_now), " ".join(each.nodes)]
    figures = [each.ret_current, each.ret_new, each.cost, each.cost_kind, each.gain, each.threshold]
    cells = [*about, *decided, *figures, each.outcome.get("gain"), each.outcome.get("saved"), selectors.missed(each)]
    return [plain_cell(cell) for cell in (*cells, MoveKind.DECISION.value)]


def _other_line(each: OtherMove) -> list[Any]:
    job, unknown = each.job, [None] * 9
    about = ["", job.pk, job.application.slug, job.cluster, "", each.state, ""]
    asked = [each.by, each.why, each.asked_at.isoformat(), " ".join(each.nodes_now), " ".join(each.nodes)]
    return [plain_cell(cell) for cell in (*about, *asked, *unknown, each.kind.value)]
