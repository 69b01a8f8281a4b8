"""The plan of disturbances."""

from __future__ import annotations

from collections import Counter

from tests.chaos.schedule import plan

KINDS = ["kill web", "stop worker", "fill home", "flush redis"]


def test_one_seed_gives_one_plan_and_another_gives_another():
    assert plan(KINDS, 1, 600) == plan(KINDS, 1, 600)
    assert plan(KINDS, 1, 600) != plan(KINDS, 2, 600)


def test_a_longer_run_begins_as_a_shorter_one_does():
    short = plan(KINDS, 3, 120)
    assert plan(KINDS, 3, 1200)[: len(short)] == short


def test_every_kind_comes_as_often_as_every_other():
    counts = Counter(step.kind for step in plan(KINDS, 5, 1800))
    assert set(counts) == set(KINDS)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_the_plan_fills_its_time_and_no_more():
    steps = plan(KINDS, 7, 300)
    assert 280 <= sum(step.quiet + step.hold for step in steps) <= 300


def test_without_kinds_nothing_is_done():
    assert plan([], 1, 60) == []
