"""What rules are held against: the newest value of each subject of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property

from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import Live, Series
from monitoring.history.selectors import series
from monitoring.status.selectors.picture import picture, too_old
from monitoring.telemetry.selectors import agents_heard
from scheduling.jobs.core.states import PENDING
from scheduling.jobs.models import Job
from scheduling.messages.metric_text import LINK_USE, SILENCE, WAITING

#: What the longest wait is of.
JOBS = "a job"
#: In a subject, what follows is the part that one run takes of the node before it.
_OF_RUN = "@"
Values = Mapping[str, float | None]


class AlertValues:
    """The values of one cluster at one moment; each is read when it is asked for first, whatever the number of rules.

    A run's part of a node is no subject: a rule on nodes watches nodes.

    A few queries: one for the newest of all series, one for jobs, three for links.
    """

    def __init__(self, cluster: Cluster, now: datetime) -> None:
        self._cluster, self._now = cluster, now
        self._read: dict[str, Values] = {}

    def of(self, metric: str, subject: str = "") -> Values:
        """By subject; None for what was not measured lately. `subject`: this one alone."""
        found = self._read[metric] if metric in self._read else self._read.setdefault(metric, self._all(metric))
        if not subject:
            return found
        return {subject: found[subject]} if subject in found else {}

    @property
    def metrics(self) -> set[str]:
        """All that a rule of this cluster may watch now."""
        return {LINK_USE, SILENCE, WAITING, *(metric for _, metric in self._live)}

    def _all(self, metric: str) -> Values:
        made = {LINK_USE: self._link_use, SILENCE: self._silence, WAITING: self._waiting}
        return made[metric]() if metric in made else self._recorded(metric)

    @cached_property
    def _live(self) -> Mapping[Series, Live]:
        return series.live(self._cluster.name)

    def _recorded(self, metric: str) -> Values:
        subjects = [subject for subject, name in self._live if name == metric and _OF_RUN not in subject]
        newest = {subject: self._live[subject, metric] for subject in subjects}
        return {
            subject: None if too_old(datetime.fromtimestamp(one.at, UTC), self._now) else one.value
            for subject, one in newest.items()
        }

    def _link_use(self) -> Values:
        links = [link for link in picture(self._cluster).links if link.in_use is not None]
        return {f"{link.source}>{link.target}": None if link.stale else link.in_use for link in links}

    def _silence(self) -> Values:
        names = list(self._cluster.nodes.filter(kind="compute").values_list("name", flat=True))
        heard = agents_heard(self._cluster.name, names)
        return {name: max(0.0, self._now.timestamp() - at) for name, at in heard.items()}

    def _waiting(self) -> Values:
        pending = Job.objects.filter(cluster=self._cluster.name, state__in=[state.value for state in PENDING])
        rows = pending.filter(held_back=False)  # who waits for another job waits as asked
        oldest = rows.order_by("created_at").values_list("created_at", flat=True).first()
        return {JOBS: max(0.0, (self._now - oldest).total_seconds()) if oldest else 0.0}
