"""Holding the rules against the newest values: what fires, what ends, and who is told.

Each rule is judged in a transaction of its own with its notices: whoever is killed in between has told nobody, and the
next worker tells everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.alerts.core.alert_states import AlertState
from scheduling.alerts.core.hysteresis import Judgement, judge
from scheduling.alerts.models import Alert, AlertRule
from scheduling.alerts.selectors.alert_values import AlertValues, Values
from scheduling.jobs.services.advance import advance
from scheduling.notices import selectors as notices
from scheduling.notices.core.notice_kinds import NoticeKind
from scheduling.notices.services.writing_notices import tell
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.one_at_a_time import OneAtATime

_turns = OneAtATime()
#: For so long the history of alerts is kept.
_KEPT = timedelta(days=90)


def judge_rules() -> int:
    """Judge every rule that is on; how many alerts fired. Values of a cluster are read once for all its rules."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        now, values = timezone.now(), dict[int, AlertValues]()
        fired = 0
        for rule in AlertRule.objects.filter(enabled=True).select_related("cluster"):
            known = values.setdefault(rule.cluster_id, AlertValues(rule.cluster, now))
            fired += isolated(f"alert rule {rule}", partial(_judge, rule.pk, known, now)).value or 0
        return fired


def forget_old() -> int:
    """Let go of alerts that ended long ago; how many rows."""
    return Alert.objects.filter(state=AlertState.ENDED, ended_at__lt=timezone.now() - _KEPT).delete()[0]


def end_all(rule: AlertRule) -> int:
    """End what fires, because the rule is off or watches something else; how many."""
    return sum(advance(alert, AlertState.ENDED) for alert in rule.alerts.filter(state=AlertState.FIRING))


def _judge(pk: int, known: AlertValues, now: datetime) -> int:
    asked = AlertRule.objects.get(pk=pk)
    values = known.of(asked.metric, asked.subject)
    with transaction.atomic():
        rule = AlertRule.objects.select_for_update().get(pk=pk)
        if not rule.enabled or (rule.metric, rule.subject) != (asked.metric, asked.subject):
            return 0
        firing = {row.subject: row for row in rule.alerts.filter(state=AlertState.FIRING)}
        seen = rule.judged_at.timestamp() if rule.judged_at else None
        found = judge(rule.levels, values, rule.pending, set(firing), now=now.timestamp(), seen=seen)
        _keep(rule, found, values, now)
        ended = [firing[subject] for subject in sorted(found.ended) if advance(firing[subject], AlertState.ENDED)]
        _tell(rule, values, ended, now)
    return len(found.fired)


def _keep(rule: AlertRule, found: Judgement, values: Values, now: datetime) -> None:
    rule.pending, rule.judged_at = dict(found.pending), now
    rule.save(update_fields=["pending", "judged_at"])
    Alert.objects.bulk_create(
        Alert(
            rule=rule,
            subject=subject,
            since=datetime.fromtimestamp(since, UTC),
            fired_at=now,
            value=values[subject] or 0.0,
        )
        for subject, since in found.fired.items()
    )


def _tell(rule: AlertRule, values: Values, ended: list[Alert], now: datetime) -> None:
    """One notice for all that fire and nobody was told of, and one for all that ended; while muted none."""
    if rule.muted_until is not None and rule.muted_until > now:
        return
    untold = list(rule.alerts.filter(state=AlertState.FIRING, notified=False).order_by("pk"))
    if untold:
        first = max(untold, key=lambda row: rule.levels.badness(_value(values, row)))
        _tell_deciders(first, _fires(rule, first, values, len(untold) - 1))
        rule.alerts.filter(pk__in=[row.pk for row in untold]).update(notified=True)
    told = [row for row in ended if row.notified]
    if told:
        _tell_deciders(told[0], _ends(rule, told[0], values, len(told) - 1))


def _tell_deciders(alert: Alert, reason: Reason) -> None:
    for person in notices.deciders():
        tell(person, NoticeKind.ALERT, alert=alert, reason=reason)


def _fires(rule: AlertRule, alert: Alert, values: Values, others: int) -> Reason:
    facts = {"subject": alert.subject, "metric": rule.metric, "value": _value(values, alert)}
    return Reason.of(
        Code.ALERT_FIRES, **facts, level=rule.level, above=rule.above, lasted=float(rule.hold), others=others
    )


def _ends(rule: AlertRule, alert: Alert, values: Mapping[str, float | None], others: int) -> Reason:
    value = values.get(alert.subject)
    if value is None:
        return Reason.of(Code.ALERT_GONE, subject=alert.subject, metric=rule.metric)
    return Reason.of(Code.ALERT_ENDS, subject=alert.subject, metric=rule.metric, value=value, others=others)


def _value(values: Values, alert: Alert) -> float:
    value = values.get(alert.subject)
    return alert.value if value is None else value
