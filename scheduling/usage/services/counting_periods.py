"""Adding jobs that are over to the sums of days and months, those of all and those of each person. Called by
counting_use alone, in its transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime

from django.db.models import QuerySet

from scheduling.jobs.models import Job
from scheduling.usage.core.packed_counts import packed, unpacked
from scheduling.usage.core.use_parts import SUMMED, Figures, JobUse, UseKey, add_up
from scheduling.usage.job_uses import job_uses, sites
from scheduling.usage.models import PeriodUse, PersonUse
from scheduling.usage.services.counting_people import PersonPlace, PersonSums, count_people

_Place = tuple[str, date, UseKey]
_CHANGED = (*SUMMED, "newest", "waits", "slowdowns")


def count_periods(jobs: QuerySet[Job], now: datetime) -> None:
    """Add what these jobs used, each to its days and months. They must be in no sum yet."""
    sums: dict[_Place, Figures] = defaultdict(Figures)
    people: PersonSums = defaultdict(lambda: defaultdict(Figures))
    site_of = sites()
    for person, uses in _by_person(job_uses(jobs, now)).items():
        for (key, day), figures in add_up(uses, site_of).items():
            for period, start in ((PeriodUse.DAY, day), (PeriodUse.MONTH, day.replace(day=1))):
                sums[period, start, key].add(figures)
                people[PersonPlace(int(person), period, start, key.cluster)][key.part, key.name].add(figures)
    _write(sums)
    count_people(people)


def forget_periods() -> None:
    """As before the first job was counted."""
    for model in (PeriodUse, PersonUse):
        model.objects.all()._raw_delete("default")


def _by_person(uses: Iterable[JobUse]) -> dict[str, list[JobUse]]:
    people = defaultdict[str, list[JobUse]](list)
    for use in uses:
        people[use.person].append(use)
    return people


def _write(sums: dict[_Place, Figures]) -> None:
    """Add to the rows that are there, and make those that are not."""
    starts: dict[str, set[date]] = defaultdict(set)
    for period, start, _ in sums:
        starts[period].add(start)
    row_of = {_place(row): row for period in starts for row in _rows(period, starts[period])}
    made, again = list[PeriodUse](), list[PeriodUse]()
    for (period, start, key), figures in sums.items():
        row = row_of.get((period, start, key))
        (made if row is None else again).append(_added(row or _new(period, start, key), figures))
    PeriodUse.objects.bulk_create(made, batch_size=500)
    PeriodUse.objects.bulk_create(
        again, batch_size=500, update_conflicts=True, unique_fields=["id"], update_fields=_CHANGED
    )


def _rows(period: str, starts: set[date]) -> QuerySet[PeriodUse]:
    return PeriodUse.objects.filter(period=period, start__in=starts)


def _place(row: PeriodUse) -> _Place:
    return row.period, row.start, UseKey(row.part, row.cluster, row.name)  # type: ignore[arg-type]  # a StrEnum's word


def _new(period: str, start: date, key: UseKey) -> PeriodUse:
    return PeriodUse(period=period, start=start, part=key.part.value, cluster=key.cluster, name=key.name)


def _added(row: PeriodUse, figures: Figures) -> PeriodUse:
    for name in SUMMED:
        setattr(row, name, getattr(row, name) + getattr(figures, name))
    row.newest = max(row.newest, figures.newest)
    row.waits, row.slowdowns = _merged(row.waits, figures.waits), _merged(row.slowdowns, figures.slowdowns)
    return row


def _merged(kept: str, more: Counter[int]) -> str:
    """Counts by bucket, packed."""
    return packed(unpacked(kept) + more) if kept else packed(more)
