"""The report of use from daily sums: the jobs that are in none are added up as they are at this moment.

`scheduling.usage.services.counting_use` keeps the sums. A report over sums equals the one over all runs exactly.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from gridportal.accounts.models import User
from scheduling.jobs import selectors
from scheduling.jobs.core.states import FINAL
from scheduling.jobs.filters import REPORT_PRESETS, JobFilterForm, condition
from scheduling.jobs.models import Job
from scheduling.usage import selectors as use_selectors
from scheduling.usage.models import SUMS, DailyUse, UncountedJob, UseMark
from scheduling.usage.selectors import Use

_DAY = timedelta(days=1)
_TIMES = ("since", "start", "until")
#: The filters that need the sums by state and method; the others read those of all states and methods together.
_NARROW = ("state", "method")
#: The filters by what jobs and their sums have alike.
_ALIKE = ("owner", "application", *_NARROW)


class Whole(NamedTuple):
    """The whole days (UTC) within a time: `first` is the start of the first, `end` that of the day after the last."""

    first: datetime | None
    end: datetime | None

    @property
    def is_empty(self) -> bool:
        """Whether there is no whole day in it."""
        return self.first is not None and self.end is not None and self.first >= self.end


def use_for(person: User, form: JobFilterForm, now: datetime | None = None) -> list[Use]:
    """What the jobs that `person` may see and the filters let through used, by application on a cluster."""
    now, visible = now or timezone.now(), selectors.jobs_of(person)
    asked = form.values()
    if not set(asked) <= {*_TIMES, *_ALIKE}:
        return use_selectors.use(form.apply(visible), now)
    begin, until = _time(asked, now)
    alike = _alike(person, asked)
    jobs = visible.filter(alike)
    jobs = jobs if begin is None else jobs.filter(created_at__gte=begin)
    jobs = jobs if until is None else jobs.filter(created_at__lte=until)
    sums = DailyUse.objects.filter(alike, owner__isnull="owner" not in asked and person.role in selectors.SEES_ALL)
    sums = sums.filter(state__in=[state.value for state in FINAL] if set(asked) & set(_NARROW) else [""])
    return _use(jobs, sums, whole_days(begin, until), now)


def whole_days(begin: datetime | None, until: datetime | None) -> Whole:
    """Of a time from `begin` to `until`, None: without end.

    >>> whole_days(datetime(2026, 3, 1, 1, tzinfo=UTC), None).first.isoformat()
    '2026-03-02T00:00:00+00:00'
    """
    first = begin and _midnight(begin)
    if first and begin and first < begin:
        first += _DAY
    return Whole(first, until and _midnight(until))


def _time(asked: dict[str, Any], now: datetime) -> tuple[datetime | None, datetime | None]:
    begins = [asked["start"]] if "start" in asked else []
    if "since" in asked:
        begins.append(now - REPORT_PRESETS[asked["since"]][1])
    return max(begins, default=None), asked.get("until")


def _alike(person: User, asked: dict[str, Any]) -> Q:
    """What is asked of jobs and of their sums: whose, of which application, and which end or method."""
    wanted = Q() if person.role in selectors.SEES_ALL else Q(owner=person.pk)
    for name in _ALIKE:
        wanted &= condition(name, asked[name]) if name in asked else Q()
    return wanted


def _use(jobs: QuerySet[Job], sums: QuerySet[DailyUse], days: Whole, now: datetime) -> list[Use]:
    """The sums of whole days, and beside them the jobs at the ends of the time and those that are in no sum yet.

    Read again when sums changed meanwhile: a job would be missing, or there twice.
    """
    if days.is_empty:
        return use_selectors.use(jobs, now)
    while True:
        mark = _mark()
        live = Job.objects.filter(pk__in=_live(jobs, days, mark.through))
        found = use_selectors.use(live, now), _added(sums, days)
        if _mark().version == mark.version:
            return use_selectors.merged(*found)


def _mark() -> UseMark:
    return UseMark.objects.first() or UseMark()


def _live(jobs: QuerySet[Job], days: Whole, through: int) -> QuerySet[Any]:
    """The numbers of the jobs that no sum has, or that were submitted on a day of which only a part is asked for."""
    numbers = jobs.order_by().values("pk")
    parts = [numbers.filter(pk__in=UncountedJob.objects.values("pk"))]
    if days.first:
        parts.append(numbers.filter(created_at__lt=days.first))
    if days.end:
        parts.append(numbers.filter(created_at__gte=days.end))
    return numbers.filter(pk__gt=through).union(*parts)


def _added(sums: QuerySet[DailyUse], days: Whole) -> list[Use]:
    whole = Q(day__gte=days.first.date()) if days.first else Q()
    whole &= Q(day__lt=days.end.date()) if days.end else Q()
    rows = sums.filter(whole).values(*use_selectors.BY)
    return use_selectors.by_application(list(rows.annotate(**{name: Sum(name) for name in SUMS})))


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
