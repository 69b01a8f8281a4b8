"""What a rule can be about: the nodes and links of its cluster, and whatever else has the series."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from monitoring.clusters.models import Cluster
from scheduling.alerts.models import AlertRule
from scheduling.alerts.selectors.alert_values import JOBS, AlertValues
from scheduling.messages.metric_text import LINK_USE, SILENCE, WAITING

_OF_LINKS = frozenset({LINK_USE, "bandwidth", "latency"})


def subjects(cluster: Cluster, metric: str, values: AlertValues) -> set[str]:
    """All that a rule on this metric may name: what has a value, and what the topology has. Two queries at most."""
    if metric == WAITING:
        return {JOBS}
    measured = set() if metric == SILENCE else set(values.of(metric))
    if metric in _OF_LINKS:
        ends = cluster.links.values_list("source__name", "target__name")
        return measured | {f"{source}>{target}" for source, target in ends}
    return measured | set(cluster.nodes.filter(kind="compute").values_list("name", flat=True))


def without_values(rules: Collection[AlertRule], now: datetime) -> tuple[set[int], set[int]]:
    """The numbers of the rules that cannot fire: those whose node or link is not there any more, and others of which
    nothing has a value now. A few queries for each cluster and metric, whatever the number of rules."""
    values = {rule.cluster_id: AlertValues(rule.cluster, now) for rule in rules}
    gone = _without_subject(rules, values)
    return gone, {rule.pk for rule in rules if rule.pk not in gone and not _is_measured(rule, values[rule.cluster_id])}


def _without_subject(rules: Iterable[AlertRule], values: Mapping[int, AlertValues]) -> set[int]:
    named = [rule for rule in rules if rule.subject]
    known: dict[tuple[int, str], set[str]] = {}
    for rule in named:
        key = rule.cluster_id, rule.metric
        if key not in known:
            known[key] = subjects(rule.cluster, rule.metric, values[rule.cluster_id])
    return {rule.pk for rule in named if rule.subject not in known[rule.cluster_id, rule.metric]}


def _is_measured(rule: AlertRule, values: AlertValues) -> bool:
    return any(value is not None for value in values.of(rule.metric, rule.subject).values())
