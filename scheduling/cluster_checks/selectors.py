"""Reading a cluster as its page shows it: whether it answers, its nodes, its jobs, its figures, its settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count

from gridportal.base.clusters import Cluster as Setting
from monitoring.clusters.models import Cluster, Node
from monitoring.telemetry import selectors as telemetry
from monitoring.telemetry.models import Source
from scheduling.cluster_checks.models import ClusterCheck
from scheduling.jobs.core.states import ACTIVE, JobState
from scheduling.jobs.models import Job
from scheduling.placing.core.room import FreeRoom
from scheduling.placing.selectors.rooms import ledger

#: Jobs that hold nodes, or are handed over; the others of ACTIVE wait.
_ON_NODES = frozenset(
    {JobState.TRIAL, JobState.STARTING, JobState.RUNNING, JobState.MOVING, JobState.STOPPED, JobState.CANCELLING}
)
#: Variables may hold secrets, so their values are shown to nobody.
_HIDDEN = ("environment",)


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster now. `row`: None while no worker has reached it; `errors`: why it, or its jobs, cannot be followed.

    busy: nodes on which others run jobs; held: those of the rest that have no room beside jobs of the portal.
    """

    name: str
    setting: Setting
    row: Cluster | None
    nodes: int
    closed: int
    busy: int
    held: int
    waiting: int
    running: int
    sources: list[Source]

    @property
    def free(self) -> int:
        """Nodes that take a job now, as far as is known."""
        return self.nodes - self.closed - self.busy - self.held

    @property
    def errors(self) -> list[tuple[str, datetime | None]]:
        """Each with since when."""
        if self.row is None:
            return []
        told = [(self.row.error, self.row.error_at), (self.row.poll_error, self.row.poll_failed_at)]
        return [each for each in told if each[0]]

    @property
    def answers(self) -> bool | None:
        """Whether it answered when it was asked last; None: it was never asked."""
        if self.errors:
            return False
        return True if self.row is not None and self.row.topology else None

    @property
    def age(self) -> float | None:
        """Seconds since the source answered that is silent for longest; None where one never did, or there is none."""
        ages = [source.age for source in self.sources if source.age is not None]
        return max(ages) if ages and len(ages) == len(self.sources) else None

    @property
    def stale(self) -> list[Source]:
        """Sources that do not answer."""
        return [source for source in self.sources if source.stale]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting of a cluster in the words of GRIDPORTAL_CLUSTERS. `value`: empty for a default that is nothing."""

    name: str
    value: str
    origin: str
    meaning: str


def cluster_states() -> list[ClusterState]:
    """All clusters that are set up, in the order of the setting."""
    return [cluster_state(name) for name in settings.CLUSTERS]


def cluster_state(name: str) -> ClusterState:
    """One of them. KeyError for a name that is not set up."""
    row, found = Cluster.objects.filter(name=name).first(), settings.CLUSTERS[name]
    counts = dict(Job.objects.filter(cluster=name, state__in=list(ACTIVE)).values_list("state").annotate(Count("pk")))
    running = sum(count for state, count in counts.items() if state in _ON_NODES)
    waiting = sum(counts.values()) - running
    nodes = _nodes(row)
    return ClusterState(
        name,
        found,
        row,
        nodes.total,
        nodes.closed,
        nodes.busy,
        nodes.held,
        waiting,
        running,
        telemetry.sources(name),
    )


def last_check(name: str) -> ClusterCheck | None:
    """The newest check of a cluster."""
    return ClusterCheck.objects.filter(cluster__name=name).select_related("asked_by", "cluster").first()


def setting_rows(cluster: Setting) -> list[SettingRow]:
    """Every setting of a cluster, those that somebody gave first."""
    rows = [
        SettingRow(
            name,
            _value(name, getattr(cluster, name)),
            origin() if name in cluster.model_fields_set else "default",
            field.description or "",
        )
        for name, field in Setting.model_fields.items()
    ]
    return sorted(rows, key=lambda row: row.origin == "default")


def origin() -> str:
    """Where the clusters are set up."""
    text = settings.PORTAL.clusters.strip()
    if text.startswith("@"):
        return f"file {Path(text[1:]).expanduser()}"
    return "environment" if text else "default"


class _NodeCounts(NamedTuple):
    total: int
    closed: int
    busy: int
    held: int


def _nodes(row: Cluster | None) -> _NodeCounts:
    if row is None:
        return _NodeCounts(0, 0, 0, 0)
    rows = list(Node.objects.filter(cluster=row, kind="compute").values_list("name", "closed", "busy"))
    left = [name for name, closed, busy in rows if not closed and not busy]
    busy = sum(1 for _, closed, busy in rows if busy and not closed)
    held = len(left) - FreeRoom.of(ledger(row.name), left).nodes
    return _NodeCounts(len(rows), len(rows) - len(left) - busy, busy, held)


def _value(name: str, value: Any) -> str:
    if value in (None, "", (), {}):
        return ""
    if name in _HIDDEN:
        return f"{', '.join(sorted(value))} (values not shown)"
    if hasattr(value, "model_dump"):
        value = value.model_dump(exclude_defaults=True)
    if isinstance(value, (tuple, dict)):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:,.10g}"
    return str(value).lower() if isinstance(value, bool) else str(value)
