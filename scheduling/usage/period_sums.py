"""What jobs used and how they fared within a range, from sums of days and months; jobs in none are read one by one.

`scheduling.usage.services.counting_periods` keeps the sums. What a plain user sees comes from the sums
of that person. Times of up to two days are read from the jobs themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Max, Q, QuerySet, Sum
from django.utils import timezone

from gridportal.accounts.models import User
from scheduling.jobs import selectors as jobs
from scheduling.jobs.models import Job
from scheduling.usage.core import hourly
from scheduling.usage.core.packed_counts import unpacked
from scheduling.usage.core.use_parts import (
    CANCELLED_EARLY,
    SUMMED,
    Figures,
    JobUse,
    UseKey,
    UsePart,
    add_up,
    together,
)
from scheduling.usage.job_uses import job_uses, sites
from scheduling.usage.joined_text import JoinedText
from scheduling.usage.models import PeriodUse, UncountedJob, UseMark
from scheduling.usage.person_sums import sums_of_person
from scheduling.usage.ranges import Range

_DAY = timedelta(days=1)
_PARTS = {part.value: part for part in UsePart}
#: Added up by the database under names that no column has.
_ADDED = {f"all_{name}": Sum(name) for name in SUMMED} | {"last": Max("newest")}
_SPREAD = {f"all_{name}": JoinedText(name) for name in ("waits", "slowdowns")}
#: In place of a day where sums are not by day.
_ANY_DAY = date.min
Uses = dict[tuple[UseKey, date], Figures]
_Answer = TypeVar("_Answer")
_kept: ContextVar[dict[Hashable, Any] | None] = ContextVar("_kept", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Within it each sum, and the jobs of a time that are in none, are read once, however many tables of a page or of
    a document ask for them. What is handed out is not changed by who gets it."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def uses(person: User, span: Range, parts: Collection[UsePart]) -> Mapping[UseKey, Figures]:
    """Each sum of these parts over all jobs that a person may see. `span` is one of `Range.in_days`."""
    return _by_key(_read(person, span, parts, by_day=False))


def uses_by_day(person: User, span: Range, *, with_spread: bool = True) -> Mapping[date, Figures]:
    """What all jobs together used on each day, in UTC; of a time that is shown by month in each month, by its first
    day. Without `with_spread`: nothing of waiting and slowdown."""
    days: dict[date, Figures] = defaultdict(Figures)
    found = _read(person, span, [UsePart.WHOLE], by_day=True, with_spread=with_spread)
    for (_, day), figures in found.items():
        days[_first_of_month(day) if span.is_in_months else day].add(figures)
    return dict(sorted(days.items()))


def months(span: Range) -> Iterator[date]:
    """The first day of each month that a time touches."""
    day, last = _first_of_month(span.begin.date()), (span.until - timedelta(microseconds=1)).date()
    while day <= last:
        yield day
        day = _first_of_month(day + 31 * _DAY)


def node_time_by_step(person: User, span: Range, step: timedelta) -> list[int]:
    """Node microseconds of all jobs that a person may see, in each of the `steps` of a short time."""
    owner = None if person.role in jobs.SEES_ALL else person.pk
    read = _jobs_there(owner, span, timezone.now())
    return hourly.node_time_by_step(read, span.begin, span.until, step)


def whole_and_people(person: User, span: Range) -> tuple[Figures, int]:
    """What all jobs together used, and how many people had jobs."""
    return _once(("whole", person.pk, span), lambda: _whole_and_people(person, span))


def _whole_and_people(person: User, span: Range) -> tuple[Figures, int]:
    if person.role not in jobs.SEES_ALL or not span.is_in_days:  # one look at the jobs has both
        parts = uses(person, span, [UsePart.WHOLE, UsePart.PERSON, UsePart.FAILURE])
        people = {key.name for key in parts if key.part is UsePart.PERSON}
        return _together(parts), len(people)
    return _together(uses(person, span, [UsePart.WHOLE, UsePart.FAILURE])), len(_people(span))


def cancelled_early(person: User, span: Range) -> int:
    """How many jobs were cancelled before they started; they are in no other sum."""
    found = uses(person, span, [UsePart.FAILURE])
    early = (figures for key, figures in found.items() if key.part is UsePart.FAILURE and key.name == CANCELLED_EARLY)
    return together(early).jobs


def _together(parts: Mapping[UseKey, Figures]) -> Figures:
    return together(figures for key, figures in parts.items() if key.part is UsePart.WHOLE)


def _people(span: Range) -> set[str]:
    """The keys of the people who had jobs, as text."""
    now = timezone.now()
    rows = PeriodUse.objects.filter(_periods(span, by_day=False), part=UsePart.PERSON).order_by()
    summed, live = _undisturbed(
        lambda: set(rows.values_list("name", flat=True).distinct()),
        lambda mark: {key.name for key, _ in _from_uncounted(None, span, mark, now) if key.part is UsePart.PERSON},
    )
    return summed | live


def node_time_of_projects(spans: Sequence[tuple[int, Range]], now: datetime) -> list[int]:
    """Node microseconds that all jobs of each of these projects used in its whole days. Reads a few sums for each, and
    once the jobs of all that are in no sum yet: those that run, and those that ended a moment ago."""

    def live(mark: UseMark) -> list[int]:
        rows = _numbered(mark.through).filter(project__in=[project for project, _ in spans])
        uncounted = list(job_uses(rows, now))
        return [_live_node_time(uncounted, project, span) for project, span in spans]

    added = zip(*_undisturbed(lambda: _summed_node_times(spans), live), strict=True)
    return [one + other for one, other in added]


def _summed_node_times(spans: Sequence[tuple[int, Range]]) -> list[int]:
    """One statement for each different time."""
    names: dict[Range, set[str]] = defaultdict(set)
    for project, span in spans:
        names[span].add(str(project))
    found = {}
    for span, projects in names.items():
        rows = PeriodUse.objects.filter(_periods(span, by_day=False), part=UsePart.PROJECT, name__in=projects)
        for name, time in rows.order_by().values_list("name").annotate(Sum("node_time")):
            found[span, name] = time
    return [found.get((span, str(project)), 0) for project, span in spans]


def _live_node_time(uncounted: Sequence[JobUse], project: int, span: Range) -> int:
    mine = [job for job in uncounted if job.project == str(project)]
    found = add_up(mine, {}, span.begin, span.until)
    return sum(figures.node_time for (key, _), figures in found.items() if key.part is UsePart.WHOLE)


def _read(person: User, span: Range, parts: Collection[UsePart], *, by_day: bool, with_spread: bool = True) -> Uses:
    """Those of these parts that are not read yet are read together."""
    kept = _kept.get()
    kept = {} if kept is None else kept
    keys = {part: ("part", person.pk, span, part, by_day, with_spread) for part in parts}
    missing = [part for part, key in keys.items() if key not in kept]
    if missing:
        found = _read_parts(person, span, missing, by_day=by_day, with_spread=with_spread)
        kept |= {keys[part]: _wanted(found, [part]) for part in missing}
    return {place: figures for key in keys.values() for place, figures in kept[key].items()}


def _read_parts(person: User, span: Range, parts: Collection[UsePart], *, by_day: bool, with_spread: bool) -> Uses:
    now, owner = timezone.now(), None if person.role in jobs.SEES_ALL else person.pk
    if not span.is_in_days:
        return _wanted(_from_jobs(owner, span, now), parts)

    def sums() -> Uses:
        if owner is None:
            return _summed(span, parts, by_day=by_day, with_spread=with_spread)
        return sums_of_person(owner, _periods(span, by_day=by_day), parts, day=None if by_day else _ANY_DAY)

    summed, live = _undisturbed(sums, lambda mark: _wanted(_from_uncounted(owner, span, mark, now), parts))
    for (key, day), figures in live.items():
        summed.setdefault((key, day if by_day else _ANY_DAY), Figures()).add(figures)
    return summed


def _from_jobs(owner: int | None, span: Range, now: datetime) -> Uses:
    """What the jobs themselves say."""
    return _once(("uses", owner, span), lambda: _added_up(_jobs_there(owner, span, now), span))


def _jobs_there(owner: int | None, span: Range, now: datetime) -> list[JobUse]:
    rows = _owned(_within(Job.objects.all(), span), owner)
    return _once(("jobs", owner, span), lambda: list(job_uses(rows, now)))


def _from_uncounted(owner: int | None, span: Range, mark: UseMark, now: datetime) -> Uses:
    """The same of those jobs alone that no sum has."""
    rows = _owned(_uncounted(mark.through, span), owner)
    return _once(("jobs", owner, span, mark.version), lambda: _live(rows, span, now))


def _owned(rows: QuerySet[Job], owner: int | None) -> QuerySet[Job]:
    return rows if owner is None else rows.filter(owner=owner)


def _once(which: Hashable, read: Callable[[], _Answer]) -> _Answer:
    """Read once within `read_once`."""
    kept = _kept.get()
    if kept is None:
        return read()
    if which not in kept:
        kept[which] = read()
    found: _Answer = kept[which]
    return found


def _undisturbed(summed: Callable[[], _Answer], live: Callable[[UseMark], _Answer]) -> tuple[_Answer, _Answer]:
    """The sums, and what is in none of them. Read again when sums changed meanwhile: a job would be missing, or twice
    there."""
    while True:
        mark = _mark()
        found = summed(), live(mark)
        if _mark().version == mark.version:
            return found


def _mark() -> UseMark:
    return UseMark.objects.first() or UseMark()


def _summed(span: Range, parts: Collection[UsePart], *, by_day: bool, with_spread: bool) -> Uses:
    """The database adds up the periods of each sum, so that one row of each is read."""
    by = ("part", "cluster", "name", *(["start"] if by_day else []))
    rows = PeriodUse.objects.filter(_periods(span, by_day=by_day), part__in=[part.value for part in parts])
    added = _ADDED | _SPREAD if with_spread else _ADDED
    return {
        (UseKey(_PARTS[row["part"]], row["cluster"], row["name"]), row.get("start", _ANY_DAY)): _figures(row)
        for row in rows.order_by().values(*by).annotate(**added)
    }


def _figures(row: Mapping[str, Any]) -> Figures:
    numbers = {name: row[f"all_{name}"] for name in SUMMED}
    waits, slowdowns = (unpacked(row.get(f"all_{name}", "")) for name in ("waits", "slowdowns"))
    return Figures(**numbers, newest=row["last"], waits=waits, slowdowns=slowdowns)


def _periods(span: Range, *, by_day: bool) -> Q:
    """Whole months as such, the days before and after them one by one. `by_day`: all days, unless they are shown by
    month."""
    first, last = span.begin.date(), (span.until - timedelta(microseconds=1)).date()
    begin, end = _first_of_month(first + 31 * _DAY if first.day > 1 else first), _first_of_month(last + _DAY)
    if (by_day and not span.is_in_months) or begin >= end:
        return Q(period=PeriodUse.DAY, start__gte=first, start__lte=last)
    months = Q(period=PeriodUse.MONTH, start__gte=begin, start__lt=end)
    before, after = Q(start__gte=first, start__lt=begin), Q(start__gte=end, start__lte=last)
    return months | (Q(period=PeriodUse.DAY) & (before | after))


def _first_of_month(day: date) -> date:
    return day.replace(day=1)


def _live(found: QuerySet[Job], span: Range, now: datetime) -> Uses:
    return _added_up(list(job_uses(found, now)), span)


def _added_up(read: Sequence[JobUse], span: Range) -> Uses:
    return dict(add_up(read, sites(), span.begin, span.until)) if read else {}


def _wanted(found: Uses, parts: Collection[UsePart]) -> Uses:
    return {place: figures for place, figures in found.items() if place[0].part in parts}


def _within(rows: QuerySet[Job], span: Range) -> QuerySet[Job]:
    """Jobs that were there in that time. Each of the two ways to be there has an index; beside "or" it is not used."""
    every = Job.objects.order_by()
    there = every.filter(ended_at__gte=span.begin).values("pk").union(every.filter(ended_at=None).values("pk"))
    return rows.filter(pk__in=there, created_at__lt=span.until)


def _uncounted(through: int, span: Range) -> QuerySet[Job]:
    """The jobs of that time that no sum has."""
    there = Q(ended_at=None) | Q(ended_at__gte=span.begin)
    return _numbered(through).filter(there, created_at__lt=span.until)


def _numbered(through: int) -> QuerySet[Job]:
    """The jobs that no sum has."""
    every, late = Job.objects.order_by(), UncountedJob.objects.values("pk")
    numbers = every.filter(pk__gt=through).values("pk").union(every.filter(pk__in=late).values("pk"))
    return Job.objects.filter(pk__in=numbers)


def _by_key(found: Uses) -> dict[UseKey, Figures]:
    sums: dict[UseKey, Figures] = defaultdict(Figures)
    for (key, _), figures in found.items():
        sums[key].add(figures)
    return dict(sums)
