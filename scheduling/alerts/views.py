"""Pages of alerts: what fires and has fired, the rules, and one rule with its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.list_pages import LISTS
from gridportal.base.errors import ConflictError, InputError
from gridportal.web.form_errors import page_text
from gridportal.web.paging import LongList, page_of
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from monitoring.clusters.models import Cluster
from scheduling.alerts.alert_text import UNMEASURED, alert_row, missing_subject, removal_text, rule_text
from scheduling.alerts.core.alert_states import AlertState
from scheduling.alerts.forms import RuleForm, first_values
from scheduling.alerts.models import AlertRule
from scheduling.alerts.selectors import alert_rows
from scheduling.alerts.selectors.alert_subjects import without_values
from scheduling.alerts.selectors.alert_values import AlertValues
from scheduling.alerts.services import changing_rules

PER_PAGE = 50
#: For how long a rule may be muted with a click: seconds and words.
MUTES = ((3600, "1 hour"), (8 * 3600, "8 hours"), (86_400, "1 day"), (7 * 86_400, "7 days"))


@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """What fires now, or all alerts of `?show=all`, those with `?q=` in rule, cluster, node or link; and the rules."""
    if usual := usual_view(request, "alerts"):
        return usual
    show, text = "all" if request.GET.get("show") == "all" else "", request.GET.get("q", "").strip()[:100]
    rows = alert_rows.alerts("" if show else AlertState.FIRING, text=text)
    page = page_of(LongList(rows), PER_PAGE, request.GET.get("page"))
    firing = alert_rows.alerts(AlertState.FIRING).count()
    rules = list(alert_rows.rules())
    context = {
        "page": page,
        "rows": [alert_row(each) for each in page.object_list],
        "total": page.paginator.count,
        "show": show,
        "q": text,
        "firing": firing,
        "rules": [(each, rule_text(each)) for each in rules],
        **_without_values(rules),
        **list_context(request, "alerts"),
    }
    return render(request, "scheduling/alerts/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_rule(request: HttpRequest) -> HttpResponse:
    """A rule that is not made yet."""
    _refuse_readers(request)
    form = RuleForm(request.POST if request.method == "POST" else None, metrics=_metrics())
    if request.method == "POST" and form.is_valid():
        try:
            made = changing_rules.make_rule(caller(request), form.values())
        except InputError as error:
            form.refuse(error.field, f"Enter {error.accepted}.")
        else:
            add_result(request, f"The rule {made}", made.get_absolute_url(), _outcome(made, "is watched from now on."))
            return redirect("alerts")
    return render(request, "scheduling/alerts/new.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def rule(request: HttpRequest, pk: int) -> HttpResponse:
    """One rule, its history, and for operators the form that changes it."""
    row = get_object_or_404(alert_rows.rules(), pk=pk)
    if request.method != "POST":
        return _rule_page(request, row, RuleForm(rule=row, metrics=_metrics()).show(first_values(row)))
    _refuse_readers(request)
    form = RuleForm(request.POST, rule=row, metrics=_metrics())
    if form.is_valid():
        try:
            with unless_changed(request, partial(_values, pk), rows_of(row), changes_of(row, "alert_rule.change")):
                changed = changing_rules.change_rule(caller(request), pk, form.values())
        except InputError as error:
            form.refuse(error.field, f"Enter {error.accepted}.")
        except ChangedMeanwhileError as error:
            error.show_on(form)
            return _rule_page(request, row, form, status=409)
        except ConflictError as error:
            messages.error(request, page_text(error))
            return redirect("alerts")
        else:
            add_result(request, f"The rule {changed}", changed.get_absolute_url(), _outcome(changed, "is changed."))
            return redirect(changed)
    return _rule_page(request, row, form, status=422)


@require_POST
def mute(request: HttpRequest, pk: int) -> HttpResponse:
    """Tell nobody of a rule for a while."""
    _refuse_readers(request)
    row = get_object_or_404(AlertRule, pk=pk)
    sent = request.POST.get("seconds", "")
    try:
        changed = changing_rules.mute_rule(caller(request), pk, int(sent) if sent.isdecimal() and len(sent) < 9 else -1)
    except InputError as error:
        messages.error(request, page_text(error))
    except ConflictError as error:
        messages.error(request, page_text(error))
        return redirect("alerts")
    else:
        until = changed.muted_until
        outcome = f"is muted until {until:%Y-%m-%d %H:%M} UTC." if until else "is muted no longer."
        add_result(request, f"The rule {changed}", changed.get_absolute_url(), outcome)
    return redirect(row)


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a rule with its history."""
    _refuse_readers(request)
    row = get_object_or_404(AlertRule, pk=pk)
    changing_rules.remove_rule(caller(request), pk)
    messages.success(request, f"Rule {row.name} is removed.")
    return redirect("alerts")


def _values(pk: int) -> Mapping[str, Any]:
    """What the form of a rule shows now; nothing of one that is gone."""
    row = AlertRule.objects.select_related("cluster").filter(pk=pk).first()
    return first_values(row) if row else {}


def _rule_page(request: HttpRequest, row: AlertRule, form: RuleForm, status: int = 200) -> HttpResponse:
    page = page_of(LongList(alert_rows.alerts(rule=row.pk)), PER_PAGE, request.GET.get("page"))
    context = {
        "rule": row,
        "finding": rule_text(row),
        **_without_values([row]),
        "missing_subject": missing_subject(row),
        "nothing_measures": UNMEASURED,
        "form": form,
        "page": page,
        "rows": [alert_row(each) for each in page.object_list],
        "total": page.paginator.count,
        "removal": removal_text(page.paginator.count),
        "mutes": MUTES,
        "shown": LISTS["alerts"].shown(()),
    }
    return render(request, "scheduling/alerts/rule.html", context, status=status)


def _without_values(rules: Sequence[AlertRule]) -> dict[str, set[int]]:
    """Which rules are about what is not there, and which about what nothing measures."""
    gone, silent = without_values(rules, timezone.now())
    return {"without_subject": gone, "unmeasured": silent}


def _outcome(rule: AlertRule, outcome: str) -> str:
    """What happened to a rule, and that nothing measures yet what it is about."""
    _, silent = without_values([rule], timezone.now()) if rule.enabled else (set(), set())
    return f"{outcome} {UNMEASURED}" if silent else outcome


def _metrics() -> tuple[str, ...]:
    """All that can be watched on any cluster now."""
    now = timezone.now()
    found: set[str] = set()
    for cluster in Cluster.objects.all():
        found |= AlertValues(cluster, now).metrics
    return tuple(sorted(found))


def _refuse_readers(request: Any) -> None:
    require_permission(
        request, "scheduling.change_alert_rules", "Operators and administrators change the rules of alerts."
    )
