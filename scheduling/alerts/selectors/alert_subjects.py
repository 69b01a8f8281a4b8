"""What a rule can be about: the nodes and links of its cluster, and whatever else has the series."""

from __future__ import annotations

from collections.abc import Iterable
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


def without_subject(rules: Iterable[AlertRule], now: datetime) -> set[int]:
    """The numbers of the rules whose node or link is not there any more. A few queries for each cluster and metric of
    rules that name one, whatever the number of rules."""
    named = [rule for rule in rules if rule.subject]
    values: dict[int, AlertValues] = {}
    known: dict[tuple[int, str], set[str]] = {}
    for rule in named:
        of_cluster = values.setdefault(rule.cluster_id, AlertValues(rule.cluster, now))
        key = rule.cluster_id, rule.metric
        if key not in known:
            known[key] = subjects(rule.cluster, rule.metric, of_cluster)
    return {rule.pk for rule in named if rule.subject not in known[rule.cluster_id, rule.metric]}


def unmeasured(rules: Iterable[AlertRule], now: datetime) -> set[int]:
    """The numbers of the rules of which nothing has a value now, so that they cannot fire. A few queries for each
    cluster and metric, whatever the number of rules."""
    values: dict[int, AlertValues] = {}
    found = set()
    for rule in rules:
        of_cluster = values.setdefault(rule.cluster_id, AlertValues(rule.cluster, now))
        if all(value is None for value in of_cluster.of(rule.metric, rule.subject).values()):
            found.add(rule.pk)
    return found
