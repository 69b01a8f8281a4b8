"""What jobs used and how they fared within a range, from sums of days and months; jobs in none are read one by one.

`scheduling.usage.services.counting_periods` keeps the sums. Times of up to two days, and what one plain user sees, are
read from the jobs themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from scheduling.jobs import selectors as jobs
from scheduling.jobs.models import Job
from scheduling.usage.core.use_parts import SUMMED, Figures, UseKey, UsePart, add_up
from scheduling.usage.job_uses import job_uses, sites
from scheduling.usage.models import PeriodUse, UncountedJob, UseMark
from scheduling.usage.ranges import Range

_DAY = timedelta(days=1)
_FIGURES = (*SUMMED, "newest", "waits", "slowdowns")
Uses = dict[tuple[UseKey, date], Figures]
_Answer = TypeVar("_Answer")


def uses(person: User, span: Range, parts: Collection[UsePart]) -> Mapping[UseKey, Figures]:
    """Each sum of these parts over all jobs that a person may see. `span` is one of `Range.in_days`."""
    return _by_key(_read(person, span, parts, by_day=False))


def uses_by_day(person: User, span: Range) -> Mapping[date, Figures]:
    """What all jobs together used on each day, in UTC."""
    days: dict[date, Figures] = defaultdict(Figures)
    for (_, day), figures in _read(person, span, [UsePart.WHOLE], by_day=True).items():
        days[day].add(figures)
    return dict(sorted(days.items()))


def node_time_of_project(project: int, span: Range, now: datetime) -> int:
    """Node microseconds that all jobs of a project used in whole days. Reads a few sums, and the jobs that are in none
    yet: those that run, and those that ended a moment ago."""
    name = str(project)

    def summed() -> int:
        rows = PeriodUse.objects.filter(_periods(span, by_day=False), part=UsePart.PROJECT, name=name)
        return sum(rows.values_list("node_time", flat=True))

    def live(through: int) -> int:
        found = add_up(job_uses(_uncounted(through, span).filter(project=project), now), {}, span.begin, span.until)
        return sum(figures.node_time for (key, _), figures in found.items() if key.part is UsePart.PROJECT)

    return sum(_undisturbed(summed, live))


def _read(person: User, span: Range, parts: Collection[UsePart], *, by_day: bool) -> Uses:
    now = timezone.now()
    if person.role not in jobs.SEES_ALL or not span.is_in_days:
        return _wanted(_live(_within(jobs.jobs_of(person), span), span, now), parts)
    summed, live = _undisturbed(
        lambda: _summed(span, parts, by_day=by_day),
        lambda through: _wanted(_live(_uncounted(through, span), span, now), parts),
    )
    for place, figures in live.items():
        summed.setdefault(place, Figures()).add(figures)
    return summed


def _undisturbed(summed: Callable[[], _Answer], live: Callable[[int], _Answer]) -> tuple[_Answer, _Answer]:
    """The sums, and what is in none of them. Read again when sums changed meanwhile: a job would be missing, or twice
    there."""
    while True:
        mark = _mark()
        found = summed(), live(mark.through)
        if _mark().version == mark.version:
            return found


def _mark() -> UseMark:
    return UseMark.objects.first() or UseMark()


def _summed(span: Range, parts: Collection[UsePart], *, by_day: bool) -> Uses:
    found: Uses = defaultdict(Figures)
    rows = PeriodUse.objects.filter(_periods(span, by_day=by_day), part__in=[part.value for part in parts])
    for part, cluster, name, start, *figures in rows.values_list("part", "cluster", "name", "start", *_FIGURES):
        found[UseKey(UsePart(part), cluster, name), start].add(_figures(figures))
    return found


def _periods(span: Range, *, by_day: bool) -> Q:
    """Whole months as such, the days before and after them one by one."""
    first, last = span.begin.date(), (span.until - timedelta(microseconds=1)).date()
    begin, end = _first_of_month(first + 31 * _DAY if first.day > 1 else first), _first_of_month(last + _DAY)
    if by_day or begin >= end:
        return Q(period=PeriodUse.DAY, start__gte=first, start__lte=last)
    months = Q(period=PeriodUse.MONTH, start__gte=begin, start__lt=end)
    before, after = Q(start__gte=first, start__lt=begin), Q(start__gte=end, start__lte=last)
    return months | (Q(period=PeriodUse.DAY) & (before | after))


def _first_of_month(day: date) -> date:
    return day.replace(day=1)


def _figures(values: list[Any]) -> Figures:
    *numbers, waits, slowdowns = values
    found = Figures(*numbers)
    found.waits, found.slowdowns = _counts(waits), _counts(slowdowns)
    return found


def _counts(kept: Mapping[str, int]) -> Counter[int]:
    return Counter({int(number): count for number, count in kept.items()})


def _live(found: QuerySet[Job], span: Range, now: datetime) -> Uses:
    return dict(add_up(job_uses(found, now), sites(), span.begin, span.until))


def _wanted(found: Uses, parts: Collection[UsePart]) -> Uses:
    return {place: figures for place, figures in found.items() if place[0].part in parts}


def _within(rows: QuerySet[Job], span: Range) -> QuerySet[Job]:
    """Jobs that were there in that time."""
    return rows.filter(Q(ended_at=None) | Q(ended_at__gte=span.begin), created_at__lt=span.until)


def _uncounted(through: int, span: Range) -> QuerySet[Job]:
    """The jobs of that time that no sum has."""
    late = UncountedJob.objects.values("pk")
    numbers = (
        Job.objects.order_by()
        .filter(pk__gt=through)
        .values("pk")
        .union(Job.objects.order_by().filter(pk__in=late).values("pk"))
    )
    return _within(Job.objects.filter(pk__in=numbers), span)


def _by_key(found: Uses) -> dict[UseKey, Figures]:
    sums: dict[UseKey, Figures] = defaultdict(Figures)
    for (key, _), figures in found.items():
        sums[key].add(figures)
    return dict(sums)
