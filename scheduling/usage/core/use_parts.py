"""What jobs used and how they fared, added up by day, each by whose it was, for what, where, on how many nodes and why
it failed. Values in, sums out; whole microseconds, so that sums are the same in any order.

Node time counts on the day (UTC) on which it was used. A job itself, how long it waited and how it ended, counts on the
day of its end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from scheduling.usage.core.logarithmic_histogram import bucket

_DAY, _MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
#: Under which name stands what belongs to no project or site.
NONE = ""
#: In place of the code of a failure: cancelled before it started. Such jobs are in no other sum.
CANCELLED_EARLY = ""
#: Slowdown takes no run for shorter than so many seconds (Feitelson, Rudolph: Metrics and benchmarking, 1998).
SHORTEST = 10.0


class UsePart(StrEnum):
    """By what is added up. The database columns hold these words."""

    WHOLE = "whole"
    PERSON = "person"  # by key
    PROJECT = "project"  # by key
    APPLICATION = "application"  # by key
    SITE = "site"
    NODE = "node"
    SIZE = "size"  # the number of nodes
    FAILURE = "failure"  # the code of the reason, or CANCELLED_EARLY


class UseKey(NamedTuple):
    """One sum: of what, on which cluster, under which name."""

    part: UsePart
    cluster: str
    name: str


@dataclass(frozen=True, slots=True)
class RunTime:
    """One run: from when to when, on how many nodes with how many processors together, and on which nodes as far as
    that is known."""

    began: datetime
    ended: datetime
    nodes: tuple[str, ...]
    node_count: int
    cpus: int


@dataclass(frozen=True, slots=True)
class JobUse:
    """One job with its runs; `ended` is None for one that is not over, `failure` the code of why it failed, if it did;
    is_cancelled: somebody cancelled it. person, project, application: keys as text; held_until: until when it was held
    back, if it was."""

    number: int
    cluster: str
    person: str
    project: str
    application: str
    created: datetime
    ended: datetime | None
    failure: str
    node_count: int
    runs: tuple[RunTime, ...]
    held_until: datetime | None = None
    is_cancelled: bool = False

    @property
    def never_started(self) -> bool:
        """Whether it was cancelled before it started: nobody can tell how long it would have waited, or how it would
        have ended."""
        return self.is_cancelled and not self.runs

    @property
    def ready(self) -> datetime:
        """Since when it might have run: it was not held back any more."""
        return max(self.created, self.held_until or self.created)


@dataclass(slots=True)
class Figures:
    """Sums: jobs that ended (or, of the live ones, still run), those that failed, node and processor time in
    microseconds. started: jobs that ended and had run; waited: how long they had waited together; held_jobs: how many
    of them were held back for other jobs or their project's budget, held: for how long together, which is no waiting;
    waits and slowdowns: how many of them are in each bucket. newest: the number of the newest job."""

    jobs: int = 0
    failed: int = 0
    node_time: int = 0
    cpu_time: int = 0
    started: int = 0
    waited: int = 0
    held_jobs: int = 0
    held: int = 0
    newest: int = 0
    waits: Counter[int] = field(default_factory=Counter)
    slowdowns: Counter[int] = field(default_factory=Counter)

    @property
    def node_seconds(self) -> float:
        """One node for one second each."""
        return self.node_time / 1e6

    def add(self, other: Figures) -> None:
        """Add all of another one."""
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.newest = max(self.newest, other.newest)
        self.waits.update(other.waits)
        self.slowdowns.update(other.slowdowns)


def together(figures: Iterable[Figures]) -> Figures:
    """The sum of several."""
    whole = Figures()
    for each in figures:
        whole.add(each)
    return whole


#: The figures that are added up as numbers.
SUMMED = ("jobs", "failed", "node_time", "cpu_time", "started", "waited", "held_jobs", "held")
Sums = Mapping[tuple[UseKey, date], Figures]


def add_up(
    jobs: Iterable[JobUse],
    site_of: Mapping[tuple[str, str], str],
    begin: datetime | None = None,
    until: datetime | None = None,
) -> Sums:
    """The sums of these jobs by key and day; with `begin` and `until` only of what lies between the two. A job that is
    not over counts on the day before `until`, or of its last run. Cost: runs times their days and nodes.
    """
    sums: defaultdict[tuple[UseKey, date], Figures] = defaultdict(Figures)
    for job in jobs:
        touched = _add_runs(sums, job, site_of, begin, until)
        if job.ended is None:
            if touched:
                last = max(day for _, day in touched)
                _add_job(sums, job, {key for key, _ in touched}, last, Figures(jobs=1, newest=job.number))
        elif (begin is None or job.ended >= begin) and (until is None or job.ended < until):
            _add_job(sums, job, _places(job, site_of), _day_of(job.ended), _fared(job))
    return dict(sums)


def _add_runs(
    sums: defaultdict[tuple[UseKey, date], Figures],
    job: JobUse,
    site_of: Mapping[tuple[str, str], str],
    begin: datetime | None,
    until: datetime | None,
) -> set[tuple[UseKey, date]]:
    touched = set()
    for run in job.runs:
        began = max(run.began, begin) if begin else run.began
        ended = min(run.ended, until) if until else run.ended
        for day, lasted in _by_day(began, ended):
            for key, nodes in _shares(job, run, site_of):
                found = sums[key, day]
                found.node_time += lasted * nodes
                found.cpu_time += lasted * run.cpus * nodes // max(1, run.node_count)
                touched.add((key, day))
    return touched


def _shares(job: JobUse, run: RunTime, site_of: Mapping[tuple[str, str], str]) -> Iterator[tuple[UseKey, int]]:
    """Each sum that a run belongs to, with how many of its nodes count there."""
    for key in _of_job(job):
        yield key, run.node_count
    yield UseKey(UsePart.SIZE, job.cluster, str(run.node_count)), run.node_count
    sites = Counter(site_of.get((job.cluster, name), NONE) for name in run.nodes) or {NONE: run.node_count}
    for site, count in sites.items():
        yield UseKey(UsePart.SITE, job.cluster, site), count
    for name in run.nodes:
        yield UseKey(UsePart.NODE, job.cluster, name), 1


def _of_job(job: JobUse) -> Iterator[UseKey]:
    names = {UsePart.WHOLE: "", UsePart.PERSON: job.person, UsePart.PROJECT: job.project}
    for part, name in (names | {UsePart.APPLICATION: job.application}).items():
        yield UseKey(part, job.cluster, name)


def _places(job: JobUse, site_of: Mapping[tuple[str, str], str]) -> set[UseKey]:
    """All sums in which a job that is over counts once."""
    if job.never_started:
        return {UseKey(UsePart.FAILURE, job.cluster, CANCELLED_EARLY)}
    found = {key for run in job.runs for key, _ in _shares(job, run, site_of)}
    if not job.runs:
        found = {*_of_job(job), UseKey(UsePart.SIZE, job.cluster, str(job.node_count))}
    if job.failure:
        found.add(UseKey(UsePart.FAILURE, job.cluster, job.failure))
    return found


def _add_job(
    sums: defaultdict[tuple[UseKey, date], Figures], job: JobUse, keys: set[UseKey], day: date, fared: Figures
) -> None:
    for key in keys:
        sums[key, day].add(fared)


def _fared(job: JobUse) -> Figures:
    """How a job that is over waited and ended."""
    found = Figures(jobs=1, failed=1 if job.failure else 0, newest=job.number)
    if job.runs and job.ended:
        waited = max(timedelta(), min(run.began for run in job.runs) - job.ready)
        ran = sum(((run.ended - run.began).total_seconds() for run in job.runs), 0.0)
        found.started, found.waited = 1, waited // _MICROSECOND
        found.waits[bucket(waited.total_seconds())] = 1
        if held := (job.ready - job.created) // _MICROSECOND:
            found.held_jobs, found.held = 1, held
        slowdown = (job.ended - job.ready).total_seconds() / max(ran, SHORTEST)
        found.slowdowns[bucket(max(1.0, slowdown))] = 1
    return found


def _by_day(began: datetime, ended: datetime) -> Iterator[tuple[date, int]]:
    """The microseconds of each day (UTC) between two moments."""
    at = began
    while at < ended:
        midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
        until = min(midnight, ended)
        yield _day_of(at), (until - at) // _MICROSECOND
        at = until


def _day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
