"""Reading rules and alerts."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from gridportal.network.topology import can_be_called
from monitoring.history.charts.history import Mark
from scheduling.alerts.core.alert_states import AlertState
from scheduling.alerts.models import Alert, AlertRule
from scheduling.messages.metric_text import LINK_USE, SILENCE

#: Of one chart so many alerts are drawn at most, the newest.
_MOST_MARKS = 50
#: The chart that shows a figure which is made of another one.
_DRAWN_AS = {LINK_USE: "bandwidth", SILENCE: "cpu"}


def rules() -> QuerySet[AlertRule]:
    """All rules by name, each with `firing`: how many alerts it has now."""
    firing = Count("alerts", filter=Q(alerts__state=AlertState.FIRING))
    return AlertRule.objects.select_related("cluster").annotate(firing=firing).order_by("name")


def alerts(state: str = "", rule: int | None = None, text: str = "") -> QuerySet[Alert]:
    """Alerts, the newest first; of one state, of one rule, with `text` in the rule's name, the cluster's, or what they
    are about."""
    rows = Alert.objects.select_related("rule__cluster").order_by("-fired_at", "-pk")
    rows = rows.filter(state=state) if state in [each.value for each in AlertState] else rows
    if text:
        named = Q(rule__name__icontains=text) | Q(rule__cluster__name__icontains=text)
        rows = rows.filter(named | Q(subject__icontains=text))
    return rows if rule is None else rows.filter(rule=rule)


def marks(cluster: str, subject: str, start: datetime, end: datetime) -> list[Mark]:
    """The alerts about one node or link between two moments, for its charts. One query, none for what has no name."""
    if not can_be_called(subject):
        return []
    about = Q(subject=subject) | Q(subject__startswith=f"{subject}:")
    lasted = Q(fired_at__lte=end) & (Q(ended_at=None) | Q(ended_at__gte=start))
    rows = Alert.objects.filter(about, lasted, rule__cluster__name=cluster).select_related("rule").order_by("-pk")
    return [
        Mark(
            row.subject,
            _DRAWN_AS.get(row.rule.metric, row.rule.metric),
            row.fired_at,
            row.ended_at,
            row.rule.name,
            reverse("alert-rule", args=[row.rule_id]),
            None if row.rule.metric in _DRAWN_AS else row.rule.level,
        )
        for row in rows[:_MOST_MARKS]
    ]
