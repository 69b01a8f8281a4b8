"""Rules and alerts in words, for pages and REST."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from scheduling.alerts.models import Alert, AlertRule
from scheduling.messages.metric_text import LINK_USE, SILENCE, WAITING, metric_of, time_text, value_text

#: What a rule watches that names no node or link.
_ANY = {LINK_USE: "Use of any link", SILENCE: "Silence of any agent", WAITING: "Longest wait of a job"}

#: What is said of a rule that is about what has no value.
UNMEASURED = "Nothing measures what it is about yet, so it cannot fire."


def rule_text(rule: AlertRule) -> str:
    """When a rule fires and when an alert of it ends, in one sentence."""
    label = metric_of(rule.metric).label
    what = f"{label} {rule.subject}" if rule.subject else _ANY.get(rule.metric, f"{label} any node or link")
    side, back = ("above", "at or below") if rule.above else ("below", "at or above")
    time = f" for {time_text(rule.hold)}" if rule.hold else ""
    level, clear = value_text(rule.metric, rule.level), value_text(rule.metric, rule.clear)
    return f"{what} {side} {level}{time}; it ends {back} {clear}."


def alert_row(alert: Alert) -> dict[str, Any]:
    """What a line of the list shows."""
    return {
        "alert": alert,
        "label": f"{metric_of(alert.rule.metric).label} {alert.subject}",
        "value": value_text(alert.rule.metric, alert.value),
        "address": _address(alert),
    }


def _address(alert: Alert) -> str:
    """The page of what it is about; empty where there is none."""
    cluster = urlencode({"cluster": alert.rule.cluster.name})
    if alert.rule.metric == WAITING:
        return f"{reverse('jobs')}?{cluster}"
    source, arrow, target = alert.subject.partition(">")
    path = reverse("link", args=[source, target]) if arrow else reverse("node", args=[source.partition(":")[0]])
    return f"{path}?{cluster}"


def missing_subject(rule: AlertRule) -> str:
    """What is said of a rule whose node or link is not there any more."""
    return f"{rule.cluster} has no {rule.subject} now, so this rule cannot fire. Change what it is about, or remove it."


def removal_text(alerts: int) -> str:
    """What is said before a rule is removed that has found so many."""
    history = f"its history of {alerts} alert{'' if alerts == 1 else 's'}"
    then = "This cannot be undone. To keep the history, switch the rule off or mute it."
    return f"It watches nothing any more, and {history} goes with it. {then}"
