"""Sums of days and months: a report from them equals one over every job, whatever happens between counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from gridportal.accounts.models import User
from scheduling.jobs.models import Application, Job
from scheduling.jobs.project_models import Project
from scheduling.usage import period_sums
from scheduling.usage.core.use_parts import Figures, UseKey, UsePart
from scheduling.usage.models import PeriodUse, PersonUse, UncountedJob
from scheduling.usage.ranges import Range
from scheduling.usage.services.counting_use import count_use, recount_use
from tests.examples import examples
from tests.scheduling.usage.test_daily_sums import NOW, a_job, something_happens

DAY = timedelta(days=1)
#: From some days ago to now, and whole days of the past; one of more than two months.
SPANS = ((9, 0), (4, 0), (5, 2), (70, 0), (90, 1))


def span(back: int, to: int) -> Range:
    return Range(NOW - back * DAY, NOW - to * DAY).in_days(NOW)


class SumsEqualJobs(TestCase):
    """As a Django TestCase, so that each example has an empty database."""

    @given(seed=st.integers(0, 2**32), batch=st.integers(1, 7))
    @budget(max_examples=examples(4, fuzz=12), deadline=None)
    def test_a_report_from_sums_is_the_one_over_all_jobs(self, seed: int, batch: int) -> None:
        draw = Random(seed)
        people = [User.objects.create(username=name) for name in ("a", "b")]
        programs = [Application.objects.create(slug=slug, name=slug, command=["x"]) for slug in ("cg", "ep")]
        for _ in range(3):
            newest = Job.objects.order_by("pk").values_list("pk", flat=True).last() or 0
            something_happens(draw, people, programs, NOW - DAY)
            Job.objects.filter(pk=newest + 1).update(created_at=NOW - 60 * DAY)
            if draw.random() < 0.8:
                count_use(NOW, batch=batch)
            _agree()
        recount_use(NOW)
        _agree()


def _agree() -> None:
    boss = User(username="boss")
    boss.__dict__["role"] = "operator"
    for back, to in SPANS:
        asked = span(back, to)
        with patch.object(period_sums.timezone, "now", lambda: NOW):
            found = period_sums.uses(boss, asked, list(UsePart))
            days = period_sums.uses_by_day(boss, asked)
            live = period_sums._live(period_sums._within(Job.objects.all(), asked), asked, NOW)
        assert found == period_sums._by_key(live), (back, to)
        _agree_for(User.objects.get(username="a"), asked)
        whole = {
            day: figures for (key, day), figures in live.items() if key.part is UsePart.WHOLE and key.cluster == "grid"
        }
        assert set(whole) <= set(days)


def _agree_for(person: User, asked: Range) -> None:
    """A plain user's own report; what no report of nodes shows is not kept."""
    with patch.object(period_sums.timezone, "now", lambda: NOW):
        found = period_sums.uses(person, asked, list(UsePart))
        days = period_sums.uses_by_day(person, asked)
        live = period_sums._live(period_sums._within(Job.objects.filter(owner=person), asked), asked, NOW)
    assert _without_spread_of_nodes(found) == _without_spread_of_nodes(period_sums._by_key(live))
    whole: dict[Any, Figures] = {}
    for (key, day), figures in live.items():
        if key.part is UsePart.WHOLE:
            whole.setdefault(day, Figures()).add(figures)
    assert days == whole


def _without_spread_of_nodes(found: Any) -> dict[UseKey, Figures]:
    return {
        key: replace(figures, waits=Counter(), slowdowns=Counter()) if key.part is UsePart.NODE else figures
        for key, figures in found.items()
    }


@pytest.fixture
def ocean(db: None) -> Project:
    return Project.objects.create(name="ocean")


def test_the_node_time_of_a_project_is_that_of_its_jobs(
    people: dict[str, Any], application: Any, ocean: Project
) -> None:
    draw = Random(5)
    made = [a_job(draw, [people["user"]], [application], NOW) for _ in range(20)]
    Job.objects.filter(pk__in=[job.pk for job in made[::2]]).update(project=ocean)
    asked = span(30, 0)
    live = period_sums._live(Job.objects.filter(project=ocean), asked, NOW)
    expected = sum(figures.node_time for (key, _), figures in live.items() if key.part is UsePart.WHOLE)
    assert period_sums.node_time_of_projects([(ocean.pk, asked)], NOW) == [expected] != [0]
    count_use(NOW)
    assert PeriodUse.objects.filter(part=UsePart.PROJECT, name=str(ocean.pk)).exists()
    assert period_sums.node_time_of_projects([(ocean.pk, asked)], NOW) == [expected]


def test_a_long_time_reads_months(people: dict[str, Any], application: Any, django_assert_max_num_queries: Any) -> None:
    asked = Range(datetime(2025, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)).in_days(NOW)
    for start, period in (
        (datetime(2025, 7, 1), "month"),
        (datetime(2025, 7, 1), "day"),
        (datetime(2026, 3, 1), "month"),
    ):
        PeriodUse.objects.create(start=start.date(), period=period, part="whole", cluster="grid", jobs=1)
    read = PeriodUse.objects.filter(period_sums._periods(asked, by_day=False))
    assert [(row.period, row.start.month) for row in read] == [("month", 7)]
    with django_assert_max_num_queries(9):
        period_sums.uses(people["operator"], asked, [UsePart.PERSON])


def test_a_person_reads_no_counted_job(
    people: dict[str, Any], application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, read = Random(7), list[Job]()
    for _ in range(12):
        a_job(draw, [people["user"], people["other"]], [application], NOW)
    plain = period_sums.job_uses
    monkeypatch.setattr(period_sums, "job_uses", lambda rows, now: (read.extend(rows), plain(rows, now))[1])
    monkeypatch.setattr(period_sums.timezone, "now", lambda: NOW)
    before = period_sums.whole_and_people(people["user"], span(30, 0))
    assert {job.owner.username for job in read} == {"user"}
    assert count_use(NOW) > 0
    read.clear()
    assert period_sums.whole_and_people(people["user"], span(30, 0)) == before
    assert {job.pk for job in read} <= set(UncountedJob.objects.values_list("pk", flat=True))
    assert set(PersonUse.objects.values_list("owner__username", flat=True)) == {"user", "other"}
