"""What jobs used by the hour: nothing lost and nothing twice, however the time lies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as some

from scheduling.usage.core.hourly import node_time_by_step, step_of, steps
from scheduling.usage.core.use_parts import JobUse, RunTime

BEGIN = datetime(2026, 11, 26, 5, 37, tzinfo=UTC)
MINUTES = some.integers(-3000, 3000)


def job(began: datetime, ended: datetime, nodes: int) -> JobUse:
    run = RunTime(began, ended, (), nodes, nodes)
    return JobUse(1, "grid", "1", "", "1", began, ended, "", nodes, (run,))


@given(
    runs=some.lists(some.tuples(MINUTES, some.integers(0, 4000), some.integers(1, 8)), max_size=5),
    length=some.integers(1, 2880),
)
def test_steps_together_have_all_that_lies_within_the_time(runs: list[tuple[int, int, int]], length: int) -> None:
    until = BEGIN + timedelta(minutes=length)
    starts = [(BEGIN + timedelta(minutes=at), minutes, nodes) for at, minutes, nodes in runs]
    jobs = [job(at, at + timedelta(minutes=minutes), nodes) for at, minutes, nodes in starts]
    found = node_time_by_step(jobs, BEGIN, until, step_of(until - BEGIN))
    inside = sum(
        nodes * max(timedelta(), min(until, at + timedelta(minutes=minutes)) - max(BEGIN, at)).total_seconds()
        for at, minutes, nodes in starts
    )
    assert sum(found) == inside * 1e6


def test_steps_begin_at_whole_hours_and_each_has_its_part() -> None:
    until = BEGIN + timedelta(hours=4)
    found = steps(BEGIN, until, timedelta(hours=1))
    assert [at.strftime("%H:%M") for at in found] == ["05:00", "06:00", "07:00", "08:00", "09:00"]
    run = job(BEGIN + timedelta(minutes=3), BEGIN + timedelta(hours=1), 2)
    sums = node_time_by_step([run], BEGIN, until, timedelta(hours=1))
    assert [each // 60_000_000 for each in sums] == [40, 74, 0, 0, 0]
