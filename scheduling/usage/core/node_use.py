"""Node time of runs within a range of time: by person, group, project, site, day and node, added up in one pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

_DAY = timedelta(days=1)
#: Under which name stands what belongs to no group or site.
NONE = "none"


@dataclass(frozen=True, slots=True)
class RunUse:
    """One run: whose job, of which project, on which nodes of which cluster, from when to when."""

    job: int
    owner: str
    cluster: str
    nodes: Sequence[str]
    began: datetime
    ended: datetime
    project: str = NONE


@dataclass(slots=True)
class NodeTime:
    """Node seconds, and the jobs that used them."""

    seconds: float = 0.0
    jobs: set[int] = field(default_factory=set)

    @property
    def hours(self) -> float:
        """Node-hours."""
        return self.seconds / 3600

    def add(self, seconds: float, job: int) -> None:
        """A job used so many."""
        self.seconds += seconds
        self.jobs.add(job)


@dataclass(frozen=True, slots=True)
class NodeUse:
    """All sums: by owner, group, project, (cluster, site), day in UTC, and (cluster, node)."""

    whole: NodeTime
    people: Mapping[str, NodeTime]
    groups: Mapping[str, NodeTime]
    projects: Mapping[str, NodeTime]
    sites: Mapping[tuple[str, str], NodeTime]
    days: Mapping[date, NodeTime]
    nodes: Mapping[tuple[str, str], NodeTime]


def add_up(
    runs: Iterable[RunUse],
    begin: datetime,
    until: datetime,
    groups_of: Mapping[str, Sequence[str]],
    site_of: Mapping[tuple[str, str], str],
) -> NodeUse:
    """What runs used between `begin` and `until`; only that part of a run counts. A person in several groups counts in
    each of them. A node counts once for a run, whatever number of its ranks are there. Cost: runs times their nodes.

    >>> at = datetime(2026, 11, 23, tzinfo=UTC)
    >>> run = RunUse(7, "ann", "grid", ["n1", "n1", "n2"], at - timedelta(hours=1), at + timedelta(hours=1))
    >>> found = add_up([run], at, at + timedelta(days=1), {"ann": ["astro"]}, {("grid", "n1"): "cmu"})
    >>> found.whole.seconds, found.groups["astro"].seconds, found.sites["grid", "cmu"].seconds
    (7200.0, 7200.0, 3600.0)
    """
    whole = NodeTime()
    people, groups, projects, days = (defaultdict[object, NodeTime](NodeTime) for _ in range(4))
    sites, nodes = (defaultdict[tuple[str, str], NodeTime](NodeTime) for _ in range(2))
    for run in runs:
        began, ended = max(run.began, begin), min(run.ended, until)
        if began >= ended:
            continue
        names, seconds = dict.fromkeys(run.nodes), (ended - began).total_seconds()
        of_run = seconds * len(names)
        whole.add(of_run, run.job)
        people[run.owner].add(of_run, run.job)
        projects[run.project].add(of_run, run.job)
        for group in groups_of.get(run.owner) or (NONE,):
            groups[group].add(of_run, run.job)
        for name in names:
            nodes[run.cluster, name].add(seconds, run.job)
            sites[run.cluster, site_of.get((run.cluster, name), NONE)].add(seconds, run.job)
        for day, part in _by_day(began, ended):
            days[day].add(part * len(names), run.job)
    by_name = (dict(people), dict(groups), dict(projects))
    return NodeUse(whole, *by_name, dict(sites), dict(days), dict(nodes))  # type: ignore[arg-type]


def _by_day(began: datetime, ended: datetime) -> Iterator[tuple[date, float]]:
    """The seconds of each day (UTC) between two moments."""
    at = began
    while at < ended:
        midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
        until = min(midnight, ended)
        yield at.astimezone(UTC).date(), (until - at).total_seconds()
        at = until
