"""What jobs used: whatever the runs, all parts add up to the whole, and only what lies within a time counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as some

from scheduling.usage.core.use_parts import CANCELLED_EARLY, Figures, JobUse, RunTime, UseKey, UsePart, add_up

BEGIN = datetime(2026, 11, 20, 13, tzinfo=UTC)
UNTIL = BEGIN + timedelta(days=3)
SITES = {("grid", "n1"): "cmu"}


def a_run(nodes: list[str], at: int, long: int) -> RunTime:
    began = BEGIN + timedelta(minutes=at)
    names = tuple(dict.fromkeys(nodes))
    return RunTime(began, began + timedelta(minutes=long), names, len(names), 2 * len(names))


RUNS = some.lists(
    some.builds(
        a_run,
        some.lists(some.sampled_from(["n1", "n2", "n3"]), min_size=1, max_size=4),
        some.integers(-3000, 8000),
        some.integers(0, 4000),
    ),
    max_size=2,
)


def a_job(number: int, person: str, runs: list[RunTime], *, over: bool, failure: str = "") -> JobUse:
    ended = max((run.ended for run in runs), default=BEGIN + timedelta(hours=1)) if over else None
    created = min((run.began for run in runs), default=BEGIN) - timedelta(minutes=number)
    return JobUse(number, "grid", person, "", "7", created, ended, failure if over else "", 2, tuple(runs))


JOBS = some.lists(
    some.builds(
        a_job,
        some.integers(1, 50),
        some.sampled_from(["1", "2"]),
        RUNS,
        over=some.booleans(),
        failure=some.sampled_from(["", "exited"]),
    ),
    max_size=5,
)


def part(sums: object, wanted: UsePart) -> list[Figures]:
    return [figures for (key, _), figures in sums.items() if key.part is wanted]  # type: ignore[attr-defined]


@settings(max_examples=40)
@given(JOBS)
def test_the_parts_add_up_to_the_whole(jobs: list[JobUse]) -> None:
    found = add_up(jobs, SITES, BEGIN, UNTIL)
    expected = sum(
        max(timedelta(), min(run.ended, UNTIL) - max(run.began, BEGIN)) // timedelta(microseconds=1) * run.node_count
        for job in jobs
        for run in job.runs
    )
    for each in (
        UsePart.WHOLE,
        UsePart.PERSON,
        UsePart.PROJECT,
        UsePart.APPLICATION,
        UsePart.SITE,
        UsePart.NODE,
        UsePart.SIZE,
    ):
        assert sum(figures.node_time for figures in part(found, each)) == expected, each
    over = [job for job in jobs if job.ended is not None and BEGIN <= job.ended < UNTIL]
    whole = part(found, UsePart.WHOLE)
    assert sum(figures.failed for figures in whole) == sum(1 for job in over if job.failure)
    assert sum(figures.jobs for figures in part(found, UsePart.FAILURE)) == sum(1 for job in over if job.failure)
    assert sum(figures.started for figures in whole) == sum(1 for job in over if job.runs)
    assert all(BEGIN.date() <= day <= UNTIL.date() for _, day in found)


@settings(max_examples=40)
@given(JOBS)
def test_two_times_together_have_what_the_whole_time_has(jobs: list[JobUse]) -> None:
    """As the sums of days are added up; jobs that are not over count in both."""
    jobs = [job for job in jobs if job.ended is not None]
    middle = datetime(2026, 11, 22, tzinfo=UTC)
    both: dict[tuple[UseKey, date], Figures] = {}
    for begin, until in ((BEGIN, middle), (middle, UNTIL)):
        for place, figures in add_up(jobs, SITES, begin, until).items():
            both.setdefault(place, Figures()).add(figures)
    assert both == add_up(jobs, SITES, BEGIN, UNTIL)


def test_waiting_and_slowdown_are_those_of_the_job() -> None:
    job = a_job(5, "1", [a_run(["n1", "n2"], 0, 60)], over=True)
    (whole,) = part(add_up([job], {}, BEGIN, UNTIL), UsePart.WHOLE)
    assert (whole.jobs, whole.started, whole.waited) == (1, 1, 5 * 60 * 10**6)
    assert (whole.node_time, whole.cpu_time) == (2 * 3600 * 10**6, 4 * 3600 * 10**6)


def test_a_job_whose_nodes_nobody_knows_counts_by_their_number() -> None:
    run = RunTime(BEGIN, BEGIN + timedelta(hours=1), (), 16, 128)
    found = add_up([a_job(1, "1", [run], over=True)], SITES, BEGIN, UNTIL)
    assert {key.name for key, _ in found if key.part is UsePart.SITE} == {""}
    assert [figures.node_time for figures in part(found, UsePart.SITE)] == [16 * 3600 * 10**6]
    assert part(found, UsePart.NODE) == []


def test_a_job_cancelled_before_it_started_is_in_one_sum_of_its_own() -> None:
    run = a_run(["n1"], 0, 60)
    early, late = a_job(1, "1", [], over=True), a_job(2, "1", [run], over=True)
    found = add_up([replace(each, is_cancelled=True) for each in (early, late)], SITES, BEGIN, UNTIL)
    named = {key.part: (key.name, figures) for (key, _), figures in found.items() if key.part is UsePart.FAILURE}
    assert (named[UsePart.FAILURE][0], named[UsePart.FAILURE][1].jobs) == (CANCELLED_EARLY, 1)
    for each in set(UsePart) - {UsePart.FAILURE}:
        (figures,) = part(found, each)
        assert (figures.jobs, figures.started, figures.failed) == (1, 1, 0), each
