"""Reading what was used: by applications, by the runs of their skeletons, and what trying groups cost and won."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.usage.models import SUMS

MICROSECOND = timedelta(microseconds=1)
BY = ("cluster", "application__slug", "application__name")


@dataclass
class Use:
    """What the jobs of one application on one cluster used: numbers, times in whole microseconds, and node time (one
    node for one microsecond).

    `trials` had their groups tried: `spent_time` is for how long skeletons ran, `won_time` the sum of what the
    taken groups were predicted to save over the selection's own, of the `compared` ones. `over` trials took longer than
    they might, `overrun_time` together.
    """

    cluster: str = ""
    slug: str = ""
    name: str = ""
    runs: int = 0
    time: int = 0
    node_time: int = 0
    skeleton_runs: int = 0
    skeleton_time: int = 0
    skeleton_node_time: int = 0
    trials: int = 0
    spent_time: int = 0
    compared: int = 0
    won_time: int = 0
    over: int = 0
    overrun_time: int = 0

    @property
    def seconds(self) -> float:
        """Of all runs."""
        return self.time / 1e6

    @property
    def node_seconds(self) -> float:
        """One node for one second each."""
        return self.node_time / 1e6

    @property
    def skeleton_seconds(self) -> float:
        """Of all runs of skeletons."""
        return self.skeleton_time / 1e6

    @property
    def skeleton_node_seconds(self) -> float:
        """One node for one second each."""
        return self.skeleton_node_time / 1e6

    @property
    def spent(self) -> float:
        """Seconds in which skeletons of trials ran."""
        return self.spent_time / 1e6

    @property
    def won(self) -> float:
        """Seconds that trials were predicted to save."""
        return self.won_time / 1e6

    @property
    def overrun(self) -> float:
        """Seconds that trials took too long."""
        return self.overrun_time / 1e6

    @property
    def share(self) -> float | None:
        """The skeletons' part of all node time; None where nothing ran."""
        whole = self.node_time + self.skeleton_node_time
        return self.skeleton_node_time / whole if whole else None

    def add(self, sums: Mapping[str, Any]) -> None:
        """Add what has these names."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + int(sums.get(name) or 0))


def use(jobs: QuerySet[Job], now: datetime | None = None) -> list[Use]:
    """The use of each application on each cluster by `jobs`, most node time first; runs that last count until `now`.

    Costs one grouped statement for runs, one for skeletons, and a look at every job that was tried:
    `scheduling.usage.sums` reads long times from daily sums.
    """
    return by_application(added_up(jobs, BY, now or timezone.now()))


def by_application(parts: Iterable[Mapping[str, Any]]) -> list[Use]:
    """Sums that belong to the same application on the same cluster in one row, most node time first."""
    rows: dict[tuple[str, str], Use] = {}
    for part in parts:
        cluster, slug, name = (part[column] for column in BY)
        rows.setdefault((cluster, slug), Use(cluster, slug, name)).add(part)
    used = [row for row in rows.values() if row.runs or row.skeleton_runs or row.trials]
    return sorted(used, key=lambda row: (-row.node_time - row.skeleton_node_time, row.cluster, row.slug))


def merged(*reports: list[Use]) -> list[Use]:
    """Several reports as one."""
    return by_application(
        [
            dict(zip(BY, (row.cluster, row.slug, row.name), strict=True)) | vars(row)
            for report in reports
            for row in report
        ]
    )


def together(rows: list[Use]) -> Use:
    """The sum of all rows."""
    whole = Use(name="all")
    for row in rows:
        whole.add(vars(row))
    return whole


def added_up(jobs: QuerySet[Job], by: Sequence[str], now: datetime) -> Iterator[Mapping[str, Any]]:
    """Parts of the sums of `jobs`, each with the columns `by` of its jobs; several parts may have the same."""
    began = jobs.order_by()
    for kind, prefix in (("runs", ""), ("skeleton_runs", "skeleton_")):
        for row in _lasted(began.filter(**{f"{kind}__started_at__isnull": False}), kind, by, now):
            time = row["lasted"] // MICROSECOND
            sums = {kind: row["count"], f"{prefix}time": time, f"{prefix}node_time": row["each"] * time}
            yield {column: row[column] for column in by} | sums
    tried = began.filter(placements__trial__isnull=False, placements__trial__spent__isnull=False)
    figures = {name: F(f"placements__trial__{name}") for name in ("spent", "budget", "won")}
    for row in tried.values(*by, **figures).iterator():
        yield {column: row[column] for column in by} | _trial(row)


def _lasted(jobs: QuerySet[Job], runs: str, by: Sequence[str], now: datetime) -> QuerySet[Job, dict[str, Any]]:
    """How many `runs` these jobs have and how long they lasted together, also by the number of nodes of each run."""
    lasted = Sum(Coalesce(F(f"{runs}__ended_at"), now) - F(f"{runs}__started_at"))
    rows: QuerySet[Job, dict[str, Any]] = jobs.values(*by, each=Coalesce(F(f"{runs}__node_count"), F("node_count")))
    return rows.annotate(count=Count(f"{runs}__pk"), lasted=lasted)


def _trial(row: Mapping[str, Any]) -> dict[str, int]:
    """The sums of one trial."""
    spent = microseconds(row["spent"])
    sums = {"trials": 1, "spent_time": spent}
    if row["won"] is not None:
        sums |= {"compared": 1, "won_time": microseconds(row["won"])}
    if row["budget"] is not None and row["spent"] > row["budget"]:
        sums |= {"over": 1, "overrun_time": spent - microseconds(row["budget"])}
    return sums


def microseconds(seconds: float) -> int:
    """Rounded, so that sums do not depend on their order."""
    return round(seconds * 1e6)
