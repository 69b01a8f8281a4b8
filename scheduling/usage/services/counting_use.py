"""Adding up by day what jobs used, once it cannot change any more: reports read these sums (docs/decisions/daily-sums).

Jobs are counted in the order of their numbers, a batch in a transaction. What a job used may still change when a batch
comes to it: such a job becomes an UncountedJob, and is counted when it is over. So each job up to the mark is in the
sums exactly once or is an UncountedJob, whenever the work is broken off.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from scheduling.checkpoints.models import RuntimeSupport
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from scheduling.skeletons.models import OPEN, SkeletonRun
from scheduling.usage.models import SUMS, DailyUse, PeriodUse, PersonUse, UncountedJob, UseMark
from scheduling.usage.selectors import added_up
from scheduling.usage.services.counting_periods import count_periods, forget_periods

log = logging.getLogger(__name__)
#: What a job used may change for so long after its end, and a submission may take so long to be committed.
SETTLED = timedelta(minutes=10)
BATCH = 5000
_BY = ("day", "cluster", "application_id", "owner_id", "state", "method")
_Key = tuple[Any, ...]
_Sums = dict[_Key, "Counter[str]"]


def count_use(now: datetime | None = None, *, batch: int = BATCH, most: int | None = None) -> int:
    """Count the jobs that are over, at most `most` batches of new ones; how many were counted."""
    now, counted, steps = now or timezone.now(), 0, 0
    while most is None or steps < most:
        step = _count_next(now, batch)
        if step is None:
            break
        counted, steps = counted + step, steps + 1
    while step := _count_late(now, batch):
        counted += step
    return counted


def recount_use(now: datetime | None = None) -> int:
    """Forget all sums and count anew; how many jobs were counted. Reports stay true meanwhile, but are slower."""
    with transaction.atomic():
        mark = _mark()
        DailyUse.objects.all()._raw_delete("default")
        UncountedJob.objects.all()._raw_delete("default")
        forget_periods()
        _moved(mark, 0)
    return count_use(now)


@transaction.atomic
def forget_cluster(name: str) -> None:
    """Forget the sums of a cluster whose jobs were all deleted: the others stay as they are."""
    mark = _mark()
    for model in (DailyUse, PeriodUse, PersonUse):
        model.objects.filter(cluster=name)._raw_delete("default")
    _moved(mark, mark.through)


def is_complete() -> bool:
    """Whether each job up to the mark is counted or an UncountedJob: not so where rows of jobs were deleted."""
    with transaction.atomic():
        mark = _mark()
        counted = DailyUse.objects.filter(owner=None, state="").aggregate(jobs=Sum("jobs"))["jobs"] or 0
        jobs = Job.objects.filter(pk__lte=mark.through).count()
        return jobs == counted + UncountedJob.objects.count()


def tend_use(most: int = 40) -> None:
    """What beat calls every few minutes: count what has ended, and begin anew where the sums cannot be right."""
    count_use(most=most)
    if not is_complete():
        log.warning("The daily sums of use do not add up to the jobs there are: they are counted anew")
        recount_use()


def _count_next(now: datetime, batch: int) -> int | None:
    """Take the mark over the next jobs; how many of them were counted, or None when there are no others."""
    with transaction.atomic():
        mark = _mark()
        rows = Job.objects.filter(pk__gt=mark.through)
        newest = rows.filter(created_at__lt=now - SETTLED).order_by("-pk").values_list("pk", flat=True).first()
        if newest is None:
            return None
        numbers = list(rows.filter(pk__lte=newest).order_by("pk").values_list("pk", flat=True)[:batch])
        over = _over(Job.objects.filter(pk__gt=mark.through, pk__lte=numbers[-1]), now)
        counted = _count(over, now)
        late = sorted(set(numbers) - set(counted))
        UncountedJob.objects.bulk_create([UncountedJob(pk=number) for number in late], batch_size=500)
        _moved(mark, numbers[-1])
        return len(counted)


def _count_late(now: datetime, batch: int) -> int:
    """Count jobs that were not over when the mark passed them."""
    with transaction.atomic():
        mark = _mark()
        late = Job.objects.filter(pk__in=UncountedJob.objects.values("pk"))
        counted = _count(_over(late, now).order_by("pk")[:batch], now)
        if counted:
            UncountedJob.objects.filter(pk__in=counted).delete()
            _moved(mark, mark.through)
        return len(counted)


def _mark() -> UseMark:
    """The one row, locked until the transaction ends: nobody else counts meanwhile."""
    UseMark.objects.get_or_create(pk=1)
    return UseMark.objects.select_for_update().get(pk=1)


def _moved(mark: UseMark, through: int) -> None:
    mark.through, mark.version = through, mark.version + 1
    mark.save()


def _over(jobs: QuerySet[Job], now: datetime) -> QuerySet[Job]:
    """Those of `jobs` of which nothing will change: they ended a while ago, and so did all that was run for them; and
    they have no checkpoint from which one that has failed may go on."""
    lasts = Q(started_at__isnull=False, ended_at=None)
    runs = Run.objects.filter(lasts, job=OuterRef("pk"))
    skeletons = SkeletonRun.objects.filter(lasts | Q(state__in=OPEN), job=OuterRef("pk"))
    ended = jobs.filter(state__in=[state.value for state in FINAL], ended_at__lt=now - SETTLED)
    kept = RuntimeSupport.objects.filter(job=OuterRef("pk"), freed_at=None)
    may_go_on = Q(state=JobState.FAILED) & Exists(kept)
    return ended.filter(~Exists(runs), ~Exists(skeletons), ~may_go_on)


def _count(over: QuerySet[Job], now: datetime) -> list[int]:
    """Add jobs that are over to the sums; their numbers."""
    numbers = list(over.values_list("pk", flat=True))
    rows = Job.objects.filter(pk__in=numbers).annotate(day=TruncDate("created_at", tzinfo=UTC)).order_by()
    sums: _Sums = defaultdict(Counter)
    for row in rows.values(*_BY).annotate(jobs=Count("pk")):
        sums[tuple(row[column] for column in _BY)]["jobs"] += row["jobs"]
    for part in added_up(rows, _BY, now):
        sums[tuple(part[column] for column in _BY)].update({name: part[name] for name in SUMS if name in part})
    for key, one in list(sums.items()):
        for wider in _wider(key):
            sums[wider].update(one)
    _write(sums)
    count_periods(rows, now)
    return numbers


def _wider(key: _Key) -> Iterator[_Key]:
    """The sums that also have what the one of this owner, state and method has: of everybody, and of all that ended."""
    *place, owner, state, method = key
    yield (*place, None, state, method)
    yield (*place, owner, "", "")
    yield (*place, None, "", "")


def _write(sums: _Sums) -> None:
    """Add to the rows that are there, and make those that are not."""
    days = {key[0] for key in sums}
    row_of = {tuple(getattr(row, c) for c in _BY): row for row in DailyUse.objects.filter(day__in=days)}
    for key, one in sums.items():
        row = row_of.setdefault(key, DailyUse(**dict(zip(_BY, key, strict=True))))
        for name, value in one.items():
            setattr(row, name, getattr(row, name) + value)
    changed = [row_of[key] for key in sums]
    DailyUse.objects.bulk_create([row for row in changed if row.pk is None], batch_size=500)
    again = [row for row in changed if row.pk is not None]
    DailyUse.objects.bulk_create(
        again, batch_size=500, update_conflicts=True, unique_fields=["id"], update_fields=["jobs", *SUMS]
    )
