"""Reading what was used, lost and saved within a range of time, for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from monitoring.clusters.models import Cluster, Node
from monitoring.history.selectors.series import history
from monitoring.status.selectors.picture import LinkFigures, picture
from scheduling.contracts.models import Contract
from scheduling.placing.models import Placement
from scheduling.placing.selectors.trial_stories import jobs_awaiting_choice
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.hindsight import MovesSum, summed_up
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.usage.core.prediction_quality import KEPT

#: So many links of each cluster are looked at, those most in use now: each is a series of its own.
MOST_LINKS = 60
_BATCH = 2000
_DAY = timedelta(days=1)
#: Up to so long a time is taken to the second, a longer one in whole days.
_SHORT = timedelta(days=2)
#: Up to so long a time is shown by day.
YEAR = timedelta(days=366)
#: Seconds by which sums of seconds are off from rounding alone.
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class Range:
    """A time between two moments."""

    begin: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.until - self.begin).total_seconds()

    @property
    def is_in_days(self) -> bool:
        """Whether it is long enough to be taken in whole days."""
        return self.until - self.begin > _SHORT

    @property
    def is_in_months(self) -> bool:
        """Whether it is so long that it is shown by month, not by day."""
        return self.until - self.begin > YEAR + _DAY

    @property
    def before(self) -> Range:
        """As long a time, which ends where this one begins; as many whole days where this one is in days."""
        length = self.until - self.begin
        return Range(self.begin - (-(-length // _DAY) * _DAY if self.is_in_days else length), self.begin)

    def in_days(self, now: datetime) -> Range:
        """The same, grown to whole days (UTC) where it is longer than two days, but not beyond `now`.

        >>> long = Range(datetime(2026, 3, 1, 5, tzinfo=UTC), datetime(2026, 3, 9, 5, tzinfo=UTC))
        >>> whole = long.in_days(datetime(2026, 4, 1, tzinfo=UTC))
        >>> whole.begin.isoformat(), whole.until.isoformat()
        ('2026-03-01T00:00:00+00:00', '2026-03-10T00:00:00+00:00')
        """
        if not self.is_in_days:
            return self
        end = _midnight(self.until)
        return Range(_midnight(self.begin), min(now, end if end == self.until else end + _DAY))


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link with the share of its peak that was in use: on average, and at the 95th percentile."""

    cluster: str
    source: str
    target: str
    capacity: float
    mean: float
    p95: float


class JudgedRun(NamedTuple):
    """Seconds of a run with a contract, its number of nodes, and whether it has ended well."""

    actual: float
    predicted: float
    nodes: int
    went_well: bool

    @property
    def is_late(self) -> bool:
        """Whether it took longer than promised by more than noise."""
        return self.actual > self.predicted * (1 + KEPT) + _ROUNDED


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Node seconds. suffered: beyond what contracts promised, of so many runs, `slow` of which took longer at all;
    `late`: those that took longer by more than the share KEPT, with `late_suffered` of it; by_trials, by_moves: avoided
    by trying candidate groups, as predicted, and by moves, after their cost. Each of these compares a job with itself.
    Seconds: `spent` by the trials of `tried` jobs, and `won` by those `compared` jobs whose first choice was tried too.
    awaiting: jobs that wait for a person's choice now."""

    runs: int = 0
    slow: int = 0
    suffered: float = 0.0
    late: int = 0
    late_suffered: float = 0.0
    by_trials: float = 0.0
    trials: int = 0
    by_moves: float = 0.0
    moves: int = 0
    tried: int = 0
    spent: float = 0.0
    compared: int = 0
    won: float = 0.0
    awaiting: int = 0

    @property
    def kept(self) -> int:
        """Runs that kept their promise, or missed it by no more than noise."""
        return self.runs - self.late


@dataclass(frozen=True, slots=True)
class MovesReport:
    """How decisions on moves ended, all of them and those that people overrode with other nodes or another count.
    by_people: approved by them; gains: means over verified moves, as shares; None without any."""

    states: dict[str, int]
    by_people: int
    overridden_states: dict[str, int]
    turned_out: MovesSum
    overridden_turned_out: MovesSum
    promised: float | None
    real: float | None

    @property
    def overridden(self) -> int:
        """How many people overrode."""
        return sum(self.overridden_states.values())


def recent(length: timedelta) -> Range:
    """So long a time, until now."""
    now = timezone.now()
    return Range(now - length, now)


def nodes_of_clusters() -> Counter[str]:
    """How many compute nodes each cluster has."""
    return Counter(Node.objects.filter(kind="compute").values_list("cluster__name", flat=True))


def link_use(span: Range) -> list[LinkUse]:
    """The links of all clusters, the most used first; those without a history in that time are left out."""
    return sorted(_links(span), key=lambda each: -each.mean)


def estimated_links(measured: Iterable[LinkUse]) -> list[str]:
    """The clusters whose links have figures now and none among `measured`: only pairs of nodes are measured there, of
    which no history of a link follows."""
    known = {each.cluster for each in measured}
    rest = [row for row in Cluster.objects.order_by("name") if row.name not in known and row.traits.has_network]
    return [row.name for row in rest if row.kind == "links" and row.links.filter(measured_at__isnull=False).exists()]


def links_now(clusters: Iterable[str]) -> list[tuple[str, LinkFigures]]:
    """The links of these clusters with what they have now, the most used first; of each cluster at most MOST_LINKS."""
    found = []
    for cluster in Cluster.objects.filter(name__in=list(clusters)):
        shown = [link for link in picture(cluster).links if link.bandwidth is not None and not link.stale]
        found += [(cluster.name, link) for link in sorted(shown, key=_most_used)[:MOST_LINKS]]
    return sorted(found, key=lambda each: (_most_used(each[1]), each[0]))


def _most_used(link: LinkFigures) -> tuple[float, str, str]:
    return -(link.in_use or 0.0), link.source, link.target


def judged_runs(span: Range) -> list[JudgedRun]:
    """The runs that started in that time and have a contract of which something is known. One statement."""
    nodes = Coalesce("run__node_count", "run__job__node_count")
    rows = contracts_of(span).exclude(promised=None).annotate(nodes=nodes)
    columns = ("monitor__actual", "monitor__predicted", "nodes", "run__state")
    return [
        JudgedRun(actual, predicted, count, state == RunState.SUCCEEDED)
        for actual, predicted, count, state in rows.values_list(*columns).iterator(chunk_size=_BATCH)
        if actual and predicted
    ]


def slowdown(span: Range, judged: Sequence[JudgedRun]) -> Slowdown:
    """What runs of that time lost, and what was avoided."""
    lost = [max(0.0, each.actual - each.predicted) * each.nodes for each in judged]
    late = [seconds for seconds, each in zip(lost, judged, strict=True) if each.is_late]
    placed = Placement.objects.filter(created_at__gte=span.begin, created_at__lt=span.until, trial__isnull=False)
    columns = ("trial__spent", "trial__won", "nodes")
    trials = list(placed.order_by().values_list(*columns).iterator(chunk_size=_BATCH))
    spent = [seconds for seconds, _, _ in trials if seconds is not None]
    compared = [(seconds, len(set(nodes))) for _, seconds, nodes in trials if seconds is not None]
    won = [seconds * count for seconds, count in compared if seconds]
    saved = [each.outcome["saved"] * len(set(each.nodes)) for each in _verified(span)]
    return Slowdown(
        runs=len(judged),
        slow=sum(1 for each in judged if each.actual > each.predicted),
        suffered=sum(lost),
        late=len(late),
        late_suffered=sum(late),
        by_trials=sum(won),
        trials=len(won),
        by_moves=sum(saved),
        moves=len(saved),
        tried=len(spent),
        spent=sum(spent),
        compared=len(compared),
        won=sum(seconds for seconds, _ in compared),
        awaiting=jobs_awaiting_choice(),
    )


def moves_report(span: Range) -> MovesReport:
    """The decisions that were made in that time, and how they ended."""
    rows = _decisions(span)
    verified = _verified(span)
    people = rows.exclude(by="").exclude(by="portal")
    changed = rows.filter(events__to_state=DecisionState.OVERRIDDEN).order_by().distinct()
    overridden = dict(changed.values_list("pk", "state"))
    gains = [each.gain for each in verified if each.gain is not None]
    real = [each.outcome["gain"] for each in verified]
    return MovesReport(
        states=dict(Counter(rows.order_by().values_list("state", flat=True))),
        by_people=people.filter(events__to_state=DecisionState.APPROVED).distinct().count(),
        overridden_states=dict(Counter(overridden.values())),
        turned_out=_turned_out(verified),
        overridden_turned_out=_turned_out([each for each in verified if each.pk in overridden]),
        promised=fmean(gains) if gains else None,
        real=fmean(real) if real else None,
    )


def _turned_out(verified: Iterable[MoveDecision]) -> MovesSum:
    return summed_up((each.outcome["gain"], each.outcome["saved"]) for each in verified)


def contracts_of(span: Range) -> QuerySet[Contract]:
    """Those of the runs that started in that time, in no order. The contracts are read, not all runs: few have one."""
    started = Run.objects.filter(pk=OuterRef("run"), started_at__gte=span.begin, started_at__lt=span.until)
    return Contract.objects.filter(Exists(started)).order_by()


def _links(span: Range) -> Iterator[LinkUse]:
    for cluster in Cluster.objects.order_by("name"):
        shown = picture(cluster).links if cluster.traits.has_network else []
        busiest = sorted(shown, key=lambda link: -(link.in_use or 0.0))[:MOST_LINKS]
        for link in busiest:
            found = history(cluster.name, f"{link.source}>{link.target}", "bandwidth", span.begin, span.until)
            if not len(found) and not cluster.directed:  # measured from the other end
                found = history(cluster.name, f"{link.target}>{link.source}", "bandwidth", span.begin, span.until)
            if len(found) and link.capacity:
                used = np.clip(1.0 - found.value / link.capacity, 0.0, 1.0)
                mean, p95 = float(used.mean()), float(np.percentile(used, 95))
                yield LinkUse(cluster.name, link.source, link.target, link.capacity, mean, p95)


def _decisions(span: Range) -> QuerySet[MoveDecision]:
    return MoveDecision.objects.filter(created_at__gte=span.begin, created_at__lt=span.until)


def _verified(span: Range) -> list[MoveDecision]:
    rows = _decisions(span).filter(state=DecisionState.VERIFIED).only("gain", "nodes", "outcome")
    return [each for each in rows if isinstance(each.outcome.get("gain"), int | float) and "saved" in each.outcome]


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
