"""Reading what was used, lost and saved within a range of time, for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from monitoring.clusters.models import Cluster, Node
from monitoring.history.selectors.series import history
from monitoring.status.selectors.picture import picture
from scheduling.contracts.models import Contract
from scheduling.placing.models import Placement
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.hindsight import MovesSum, summed_up
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.models import Run

#: So many links of each cluster are looked at, those most in use now: each is a series of its own.
MOST_LINKS = 60
_BATCH = 2000
_DAY = timedelta(days=1)
#: Up to so long a time is taken to the second, a longer one in whole days.
_SHORT = timedelta(days=2)


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


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Node seconds. suffered: beyond what contracts promised, of so many runs, `slow` of which took longer; by_trials,
    by_moves: avoided by trying candidate groups, as predicted, and by moves, after their cost. Seconds: `spent` by the
    trials of `tried` jobs, and `won` by those `compared` jobs whose first choice was tried too."""

    runs: int
    slow: int
    suffered: float
    by_trials: float
    trials: int
    by_moves: float
    moves: int
    tried: int = 0
    spent: float = 0.0
    compared: int = 0
    won: float = 0.0


@dataclass(frozen=True, slots=True)
class MovesReport:
    """How decisions on moves ended. overridden: that people changed; by_people: approved by them; gains: means over
    verified moves, as shares; None without any."""

    states: dict[str, int]
    by_people: int
    overridden: int
    overridden_verified: int
    turned_out: MovesSum
    promised: float | None
    real: float | None


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


def slowdown(span: Range) -> Slowdown:
    """What runs of that time lost, and what was avoided."""
    lost = [max(0.0, actual - predicted) * nodes for actual, predicted, nodes in _judged(span)]
    placed = Placement.objects.filter(created_at__gte=span.begin, created_at__lt=span.until, trial__isnull=False)
    columns = ("trial__spent", "trial__won", "nodes")
    trials = list(placed.order_by().values_list(*columns).iterator(chunk_size=_BATCH))
    spent = [seconds for seconds, _, _ in trials if seconds is not None]
    compared = [(seconds, len(set(nodes))) for _, seconds, nodes in trials if seconds is not None]
    won = [seconds * count for seconds, count in compared if seconds]
    saved = [each.outcome["saved"] * len(set(each.nodes)) for each in _verified(span)]
    slow = sum(1 for seconds in lost if seconds > 0)
    return Slowdown(
        *(len(lost), slow, sum(lost), sum(won), len(won), sum(saved), len(saved), len(spent), sum(spent)),
        compared=len(compared),
        won=sum(seconds for seconds, _ in compared),
    )


def moves_report(span: Range) -> MovesReport:
    """The decisions that were made in that time, and how they ended."""
    rows = _decisions(span)
    verified = _verified(span)
    people = rows.exclude(by="").exclude(by="portal")
    overridden = rows.filter(events__to_state=DecisionState.OVERRIDDEN).distinct()
    gains = [each.gain for each in verified if each.gain is not None]
    real = [each.outcome["gain"] for each in verified]
    return MovesReport(
        states=dict(Counter(rows.order_by().values_list("state", flat=True))),
        by_people=people.filter(events__to_state=DecisionState.APPROVED).distinct().count(),
        overridden=overridden.count(),
        overridden_verified=overridden.filter(state=DecisionState.VERIFIED).count(),
        turned_out=summed_up((each.outcome["gain"], each.outcome["saved"]) for each in verified),
        promised=fmean(gains) if gains else None,
        real=fmean(real) if real else None,
    )


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
            if len(found) and link.capacity:
                used = np.clip(1.0 - found.value / link.capacity, 0.0, 1.0)
                mean, p95 = float(used.mean()), float(np.percentile(used, 95))
                yield LinkUse(cluster.name, link.source, link.target, link.capacity, mean, p95)


def _judged(span: Range) -> Iterator[tuple[float, float, int]]:
    """Actual and promised seconds of the runs with contracts, and their number of nodes."""
    columns = ("monitor__actual", "monitor__predicted", "run__placement__nodes")
    for actual, predicted, nodes in (
        contracts_of(span).exclude(promised=None).values_list(*columns).iterator(chunk_size=_BATCH)
    ):
        if actual and predicted:
            yield actual, predicted, len(set(nodes))


def _decisions(span: Range) -> QuerySet[MoveDecision]:
    return MoveDecision.objects.filter(created_at__gte=span.begin, created_at__lt=span.until)


def _verified(span: Range) -> list[MoveDecision]:
    rows = _decisions(span).filter(state=DecisionState.VERIFIED)
    return [each for each in rows if isinstance(each.outcome.get("gain"), int | float) and "saved" in each.outcome]


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
