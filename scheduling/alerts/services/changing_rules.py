"""What operators do with rules: make, change, mute and remove them. Each is in the audit trail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.accepted_values import one_of
from gridportal.base.errors import ConflictError, Described, InputError
from monitoring.clusters.models import Cluster
from scheduling.alerts.models import AlertRule
from scheduling.alerts.selectors.alert_subjects import subjects
from scheduling.alerts.selectors.alert_values import AlertValues
from scheduling.alerts.services.judging_rules import end_all
from scheduling.messages.metric_text import metric_of, value_text

#: So many rules, and so many seconds beyond a level or muted, at most.
MOST_RULES, MOST_HOLD, MOST_MUTED = 200, 86_400, 30 * 86_400
#: The largest level, in the unit of the series, on both sides of zero.
MOST_LEVEL = 1e18
#: So many metrics, nodes or links a sentence names.
_NAMED = 12
_FIELDS = ("name", "cluster", "metric", "subject", "above", "level", "clear", "hold", "enabled")
#: What changes about a rule ends what it found before.
_WATCHED = ("cluster_id", "metric", "subject", "above")


@transaction.atomic
def make_rule(person: User, given: Mapping[str, Any]) -> AlertRule:
    """A new rule. Raises InputError that names the field."""
    if AlertRule.objects.count() >= MOST_RULES:
        raise InputError("name", given.get("name"), f"one of at most {MOST_RULES} rules; remove one first")
    rule = AlertRule(created_by=person.username)
    _fill(rule, given)
    audit(person, "alert_rule.make", rule, **_facts(rule))
    return rule


@transaction.atomic
def change_rule(person: User, pk: int, given: Mapping[str, Any]) -> AlertRule:
    """Change what is named in `given`; an alert that ended at the level ends at the new one. Raises InputError that
    names the field, ConflictError where the rule is gone, and changes nothing then."""
    rule = _locked(pk)
    before = [getattr(rule, name) for name in _WATCHED]
    if rule.clear == rule.level and "level" in given:
        given = {"clear": given["level"], **given}
    _fill(rule, given)
    if not rule.enabled or before != [getattr(rule, name) for name in _WATCHED]:
        end_all(rule)
        AlertRule.objects.filter(pk=pk).update(pending={})
    audit(person, "alert_rule.change", rule, **_facts(rule))
    return rule


@transaction.atomic
def mute_rule(person: User, pk: int, seconds: int) -> AlertRule:
    """Tell nobody for so many seconds; 0: tell again, also of what has fired meanwhile and still does. Raises
    InputError, ConflictError where the rule is gone."""
    if not 0 <= seconds <= MOST_MUTED:
        raise InputError("seconds", seconds, f"a whole number from 0 to {MOST_MUTED:,}")
    rule = _locked(pk)
    rule.muted_until = timezone.now() + timedelta(seconds=seconds) if seconds else None
    rule.save(update_fields=["muted_until"])
    audit(person, "alert_rule.mute", rule, until=_iso(rule.muted_until))
    return rule


@transaction.atomic
def remove_rule(person: User, pk: int) -> None:
    """Remove a rule and its history; nothing where somebody else just did."""
    rule = AlertRule.objects.select_for_update().filter(pk=pk).first()
    if rule is None:
        return
    audit(person, "alert_rule.remove", rule, **_facts(rule))
    rule.delete()


def _locked(pk: int) -> AlertRule:
    rule = AlertRule.objects.select_for_update().filter(pk=pk).first()
    if rule is None:
        raise ConflictError(f"The alert rule {pk} was removed by somebody else.")
    return rule


def _fill(rule: AlertRule, given: Mapping[str, Any]) -> None:
    for name in _FIELDS:
        if name in given:
            setattr(rule, name, given[name])
    rule.name, rule.subject = rule.name.strip(), rule.subject.strip()
    _check(rule)
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError as error:
        raise InputError("name", rule.name, "a name that no other rule has") from error


def _check(rule: AlertRule) -> None:
    if not rule.name or len(rule.name) > 80 or not rule.name.isprintable():
        raise InputError("name", rule.name[:80], "1 to 80 characters")
    if rule.cluster_id is None:
        names = Cluster.objects.order_by("name").values_list("name", flat=True)
        raise InputError("cluster", None, one_of(names, _NAMED))
    for name in ("level", "clear"):
        value = getattr(rule, name)
        if not (math.isfinite(value) and abs(value) <= MOST_LEVEL):
            raise InputError(name, value, f"a number of at most {MOST_LEVEL:g}")
    side = "no higher" if rule.above else "no lower"
    if rule.clear > rule.level if rule.above else rule.clear < rule.level:
        raise InputError("clear", rule.clear, f"a value {side} than the level")
    if not 0 <= rule.hold <= MOST_HOLD:
        raise InputError("hold", rule.hold, f"a whole number from 0 to {MOST_HOLD:,}")
    values = AlertValues(rule.cluster, timezone.now())
    if rule.metric not in values.metrics:
        raise InputError("metric", rule.metric, one_of(sorted(values.metrics), _NAMED))
    _check_reach(rule)
    if rule.subject:
        known = subjects(rule.cluster, rule.metric, values)
        if rule.subject not in known:
            raise InputError("subject", rule.subject, f"nothing, or {one_of(sorted(known), _NAMED)}")


def _check_reach(rule: AlertRule) -> None:
    """No value lies beyond the last one that there is, and no alert ends at one that there is not."""
    metric = metric_of(rule.metric)
    for name in ("level", "clear"):
        value = getattr(rule, name)
        last = (metric.most if rule.above else metric.least) if name == "level" else None
        is_below = metric.least is not None and value < metric.least
        is_above = metric.most is not None and value > metric.most
        if is_below or is_above or value == last:
            sent = Described(f"{value:g}, which is {value_text(rule.metric, value)}")
            raise InputError(name, sent, _reach(rule.metric, last))


def _reach(name: str, last: float | None) -> str:
    metric, parts = metric_of(name), []
    if metric.least is not None:
        parts.append(("more than " if metric.least == last else "at least ") + value_text(name, metric.least))
    if metric.most is not None:
        parts.append(("less than " if metric.most == last else "at most ") + value_text(name, metric.most))
    return " and ".join(parts)


def _facts(rule: AlertRule) -> Mapping[str, Any]:
    return {**{name: getattr(rule, name) for name in _FIELDS if name != "cluster"}, "cluster": rule.cluster.name}


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""
