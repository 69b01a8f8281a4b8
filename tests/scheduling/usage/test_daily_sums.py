"""Daily sums of use: a report from them equals the one over every run, whatever happens to jobs between counting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module
from random import Random
from typing import Any

import pytest
from django.apps import apps
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from gridportal.accounts.models import User
from scheduling.jobs.core.states import FINAL
from scheduling.jobs.filters import JobFilterForm
from scheduling.jobs.models import Application, Job
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.skeletons.models import OPEN, SkeletonRun
from scheduling.usage import selectors as use_selectors
from scheduling.usage import sums as use_sums
from scheduling.usage.models import DailyUse, UncountedJob, UseMark
from scheduling.usage.services import counting_use
from scheduling.usage.services.counting_use import count_use, recount_use
from tests.examples import examples

NOW = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)
STATES = ("succeeded", "succeeded", "failed", "cancelled", "running", "waiting")
TIMES: tuple[dict[str, str], ...] = (
    {},
    {"since": "24h"},
    {"since": "7d"},
    {"start": "2026-03-04T00:00:00"},
    {"start": "2026-03-04T07:11:13", "until": "2026-03-07T23:59:59"},
    {"start": "2026-03-05T01:00:00", "until": "2026-03-05T02:00:00"},
    {"until": "2026-03-06T00:00:00"},
)
#: Filters by what the sums have, too.
MORE: tuple[dict[str, str], ...] = (
    {"owner": "a"},
    {"owner": "B", "application": "cg"},
    {"application": "ep"},
    {"owner": "nobody"},
    {"state": "failed"},
    {"state": "active"},
    {"state": "running"},
    {"method": "pattern"},
    {"state": "succeeded", "method": "random"},
    {"owner": "a", "method": "random"},
    {"owner": "b", "application": "cg", "state": "cancelled", "method": "pattern"},
)


def a_job(draw: Random, people: list[User], programs: list[Application], now: datetime) -> Job:
    """A job of the last days with whatever can belong to it; times end in any microsecond."""
    state, nodes = draw.choice(STATES), draw.choice((1, 2, 4))
    created = now - timedelta(microseconds=draw.randrange(8 * 86_400_000_000))
    ended = created + timedelta(microseconds=draw.randrange(1, 7_000_000_000)) if state in FINAL else None
    job = Job.objects.create(
        owner=draw.choice(people),
        application=draw.choice(programs),
        cluster=draw.choice(("grid", "hpc")),
        node_count=nodes,
        ranks=nodes,
        method=draw.choice(("pattern", "pattern", "random")),
        state=state,
        ended_at=ended,
    )
    Job.objects.filter(pk=job.pk).update(created_at=created)
    for number in range(draw.choice((0, 1, 1, 2))):
        _add_run(draw, job, number, created, ended)
    return job


def _add_run(draw: Random, job: Job, number: int, created: datetime, ended: datetime | None) -> None:
    trial = draw.choice((None, {"untried": "short"}, _trial(draw)))
    placement = Placement.objects.create(job=job, method="pattern", nodes=["n1"], seconds=0.1, trial=trial)
    started = created + timedelta(microseconds=draw.randrange(10**6)) if draw.random() < 0.9 else None
    common = {"job": job, "placement": placement, "run_dir": "/r", "script": "", "started_at": started}
    common["node_count"] = draw.choice((None, 1, 3, 8))
    Run.objects.create(
        number=number,
        key=f"r{job.pk}-{number}",
        state="failed",
        ended_at=ended if draw.random() < 0.95 else None,
        **common,
    )
    if draw.random() < 0.4:
        state = "done" if ended and draw.random() < 0.9 else "running"
        SkeletonRun.objects.create(
            candidate=0,
            nodes=["n1"],
            key=f"s{placement.pk}",
            state=state,
            ended_at=ended if state == "done" else None,
            **common,
        )


def _trial(draw: Random) -> dict[str, Any]:
    spent = draw.uniform(0, 90)
    won = draw.choice((None, draw.uniform(-5, 50)))
    return {"spent": spent, "won": won, "budget": draw.choice((None, spent / 1.3, spent * 1.3))}


def something_happens(draw: Random, people: list[User], programs: list[Application], now: datetime) -> None:
    """Jobs come, and others end."""
    for _ in range(draw.randrange(6)):
        a_job(draw, people, programs, now)
    for job in Job.objects.exclude(state__in=[state.value for state in FINAL]):
        if draw.random() < 0.4:
            Run.objects.filter(job=job, ended_at=None).update(ended_at=now)
            SkeletonRun.objects.filter(job=job, state__in=OPEN).update(state="done", ended_at=now)
            Job.objects.filter(pk=job.pk).update(state="succeeded", ended_at=now)


class SumsEqualRuns(TestCase):
    """As a Django TestCase, so that each example has an empty database."""

    @given(seed=st.integers(0, 2**32), batch=st.integers(1, 7))
    @budget(max_examples=examples(2, fuzz=12), deadline=None)
    def test_a_report_from_sums_is_the_one_over_all_runs(self, seed: int, batch: int) -> None:
        draw, now = Random(seed), NOW
        people = [User.objects.create(username=name) for name in ("a", "b")]
        programs = [Application.objects.create(slug=slug, name=slug, command=["x"]) for slug in ("cg", "ep")]
        for _ in range(4):
            something_happens(draw, people, programs, now)
            now += timedelta(seconds=draw.choice((1, 900, 40_000)))
            if draw.random() < 0.8:
                count_use(now, batch=batch)
            _both_agree(draw, people, now)
        recount_use(now)
        _both_agree(draw, people, now)


def _both_agree(draw: Random, people: list[User], now: datetime) -> None:
    """Everybody's report and one person's, of all times and with some other filters, equal to the last microsecond."""
    boss = User(username="boss")
    boss.__dict__["role"] = "operator"
    assert counting_use.is_complete()
    narrowed = [(draw.choice(TIMES), more) for more in draw.sample(MORE, 5)]
    for given_time, given_more in [*((time, {}) for time in TIMES), *narrowed]:
        form, rest = JobFilterForm({**given_time, **given_more}), JobFilterForm(given_more)
        for person in (boss, people[0]):
            visible = Job.objects.all() if person is boss else Job.objects.filter(owner=person)
            begin, until = use_sums._time(form.values(), now)
            wanted = rest.apply(visible)
            wanted = wanted.filter(created_at__gte=begin) if begin else wanted
            wanted = wanted.filter(created_at__lte=until) if until else wanted
            assert use_sums.use_for(person, form, now) == use_selectors.use(wanted, now), (given_time, given_more)


@pytest.fixture
def jobs(people: dict[str, Any], application: Any) -> list[Job]:
    draw = Random(3)
    return [a_job(draw, [people["user"], people["other"]], [application], NOW) for _ in range(30)]


def test_each_run_counts_by_its_own_nodes(people: dict[str, Any], make_job: Any) -> None:
    """A job that moved from two nodes to four: an hour on two, and half an hour on four."""
    job = make_job(people["user"], "succeeded")
    began = NOW - timedelta(hours=3)
    job.runs.update(started_at=began, ended_at=began + timedelta(hours=1), node_count=2)
    moved = Placement.objects.create(job=job, method="pattern", nodes=["n1", "n2", "n3", "n4"], seconds=0.1)
    key = {"number": 2, "key": "moved", "run_dir": "/r", "script": "", "state": "succeeded", "node_count": 4}
    later = began + timedelta(hours=1)
    Run.objects.create(job=job, placement=moved, started_at=later, ended_at=later + timedelta(minutes=30), **key)
    Job.objects.update(created_at=began, ended_at=NOW - timedelta(hours=1), node_count=4, ranks=4)
    assert [row.node_seconds for row in use_selectors.use(Job.objects.all(), NOW)] == [4 * 3600.0]
    count_use(NOW)
    assert [row.node_time for row in DailyUse.objects.filter(owner=None, state="")] == [4 * 3600 * 10**6]


def test_the_migration_counts_the_nodes_of_runs_that_were_moved(people: dict[str, Any], make_job: Any) -> None:
    job, moved = make_job(people["user"], "succeeded"), make_job(people["user"], "succeeded")
    Placement.objects.filter(job=moved).update(nodes=["n1", "n1", "n2", "n3"])
    import_module("scheduling.migrations.0056_nodes_of_runs").count_nodes(apps, None)
    counts = dict(Run.objects.values_list("job", "node_count"))
    assert counts == {job.pk: None, moved.pk: 3}


def test_nothing_is_counted_twice_and_what_lasts_is_not_counted(jobs: list[Job]) -> None:
    later = NOW + timedelta(days=1)
    counted = count_use(later, batch=7)
    assert 0 < counted < len(jobs)
    assert counted + UncountedJob.objects.count() == len(jobs)
    rows = list(DailyUse.objects.order_by("pk").values())
    assert count_use(later) == 0
    assert list(DailyUse.objects.order_by("pk").values()) == rows
    running = Job.objects.filter(state="running").values("pk")
    assert UncountedJob.objects.filter(pk__in=running).count() == running.count() > 0


def test_a_young_job_waits_for_its_turn(jobs: list[Job]) -> None:
    Job.objects.update(created_at=NOW)
    assert count_use(NOW + counting_use.SETTLED) == 0
    assert count_use(NOW + timedelta(days=1)) > 0


def test_where_jobs_were_deleted_all_are_counted_anew(jobs: list[Job], caplog: pytest.LogCaptureFixture) -> None:
    counting_use.tend_use()
    assert not caplog.records
    gone = Job.objects.exclude(pk__in=UncountedJob.objects.values("pk"))[:1].get()
    Run.objects.filter(job=gone).delete()
    gone.delete()
    assert not counting_use.is_complete()
    counting_use.tend_use()
    assert counting_use.is_complete()
    assert "counted anew" in caplog.text


def test_a_report_that_meets_counting_is_read_again(jobs: list[Job], people: dict[str, Any], monkeypatch: Any) -> None:
    """Counting that ends between the questions of a report would make it miss jobs, or have them twice."""
    plain, calls = use_sums._added, []

    def counts_first(*given_to: Any) -> Any:
        calls.append(given_to)
        if len(calls) == 1:
            count_use(NOW + timedelta(days=1))
        return plain(*given_to)

    monkeypatch.setattr(use_sums, "_added", counts_first)
    found = use_sums.use_for(people["operator"], JobFilterForm({}), NOW)
    assert len(calls) == 2
    assert found == use_selectors.use(Job.objects.all(), NOW)


@pytest.mark.parametrize(
    "given",
    [
        {"owner": "user"},
        {"application": "ep"},
        {"owner": "other", "since": "7d"},
        {"state": "failed"},
        {"state": "active"},
        {"method": "pattern"},
        {"state": "succeeded", "method": "random", "since": "7d"},
        {"owner": "user", "application": "ep", "state": "succeeded", "method": "pattern"},
    ],
    ids=str,
)
def test_filters_that_the_sums_have_read_no_run_that_is_counted(
    jobs: list[Job], people: dict[str, Any], monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    count_use(NOW + timedelta(days=1))
    read, plain = [], use_selectors.use
    monkeypatch.setattr(use_selectors, "use", lambda rows, now: (read.extend(rows), plain(rows, now))[1])
    use_sums.use_for(people["operator"], JobFilterForm(given), NOW)
    uncounted = set(UncountedJob.objects.values_list("pk", flat=True))
    assert {job.pk for job in read if job.created_at > NOW - timedelta(days=6)} <= uncounted


def test_a_filter_that_the_sums_do_not_have_reads_every_run(jobs: list[Job], people: dict[str, Any]) -> None:
    count_use(NOW + timedelta(days=1))
    failed = use_selectors.use(Job.objects.filter(state="failed"), NOW)
    assert use_sums.use_for(people["operator"], JobFilterForm({"q": "failed"}), NOW) == failed != []


def test_the_migration_forgets_what_was_counted_and_reports_stay_right(jobs: list[Job], people: dict[str, Any]) -> None:
    count_use(NOW + timedelta(days=1))
    version = UseMark.objects.get().version
    import_module("scheduling.migrations.0023_use_by_state_and_method").forget(apps, None)
    assert not DailyUse.objects.exists()
    assert not UncountedJob.objects.exists()
    assert UseMark.objects.filter(through=0, version=version + 1).exists()
    every = use_selectors.use(Job.objects.all(), NOW)
    assert use_sums.use_for(people["operator"], JobFilterForm({}), NOW) == every
    counting_use.tend_use()
    assert DailyUse.objects.exists()
    assert use_sums.use_for(people["operator"], JobFilterForm({}), NOW) == every
