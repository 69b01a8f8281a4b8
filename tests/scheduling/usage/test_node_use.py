"""Node time of runs within a range: whatever the runs, all sums agree, and only what lies within counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as some

from scheduling.usage.core.node_use import RunUse, add_up

BEGIN = datetime(2026, 11, 20, 13, tzinfo=UTC)
UNTIL = BEGIN + timedelta(days=3)
MINUTES = some.integers(-3000, 8000)
RUNS = some.lists(
    some.builds(
        lambda job, owner, nodes, at, long, project: RunUse(
            job, owner, "grid", nodes, BEGIN + timedelta(minutes=at), BEGIN + timedelta(minutes=at + long), project
        ),
        some.integers(1, 5),
        some.sampled_from(["ann", "bob"]),
        some.lists(some.sampled_from(["n1", "n2", "n3"]), min_size=1, max_size=4),
        MINUTES,
        some.integers(0, 4000),
        some.sampled_from(["ocean", "sea", "none"]),
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(RUNS)
def test_the_parts_add_up_to_the_whole(runs: list[RunUse]) -> None:
    found = add_up(runs, BEGIN, UNTIL, {"ann": ["astro"]}, {("grid", "n1"): "cmu"})
    expected = sum(
        max(0.0, (min(run.ended, UNTIL) - max(run.began, BEGIN)).total_seconds()) * len(set(run.nodes)) for run in runs
    )
    assert found.whole.seconds == expected
    for parts in (found.people, found.groups, found.projects, found.sites, found.days, found.nodes):
        assert abs(sum(each.seconds for each in parts.values()) - expected) < 1e-6
    assert all(BEGIN.date() <= day <= UNTIL.date() for day in found.days)
