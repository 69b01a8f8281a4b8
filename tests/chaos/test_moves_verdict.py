"""What `make chaos KIND=move` calls broken."""

from __future__ import annotations

import pytest

from tests.chaos.moves_verdict import CountedJob, DecisionTale, MovesTale, StopTale, judge

WELL = DecisionTale(1, 7, "verified", 3, ("proposed", "approved", "moving", "moved", "verified"))
STOP = StopTale(3, 7, "moved", 1, 2)
JOB = CountedJob(7, "succeeded", verified=True, runs=2)


def rules(*parts: DecisionTale | StopTale | CountedJob) -> list[str]:
    kinds = (DecisionTale, StopTale, CountedJob)
    return [each.rule for each in judge(MovesTale(*(tuple(p for p in parts if isinstance(p, kind)) for kind in kinds)))]  # type: ignore[arg-type]


def test_a_move_that_was_made_once_is_well() -> None:
    assert rules(WELL, STOP, JOB) == []


@pytest.mark.parametrize("state", ["approved", "overridden", "moving"])
def test_a_decision_that_never_ends_is_stuck(state: str) -> None:
    assert rules(DecisionTale(1, 7, state, 0)) == ["no decision is stuck"]


def test_a_stop_that_never_ends_is_stuck() -> None:
    assert rules(StopTale(3, 7, "reading", 1, 2)) == ["no move is stuck"]


def test_two_moves_from_one_run_are_seen() -> None:
    assert rules(WELL, STOP, StopTale(4, 7, "moved", 1, 3)) == ["none is moved twice"]


def test_two_decisions_on_one_move_are_seen() -> None:
    assert rules(WELL, DecisionTale(2, 7, "moved", 3), STOP) == ["a decision moves once"]


def test_a_decision_that_began_twice_is_seen() -> None:
    assert rules(DecisionTale(1, 7, "moved", 3, ("proposed", "approved", "moving", "moving", "moved"))) == [
        "a decision moves once"
    ]


def test_steps_done_twice_and_jobs_left_behind_are_seen() -> None:
    assert rules(CountedJob(7, "failed", verified=False, runs=2)) == ["each step is done once"]
    assert rules(CountedJob(7, "stopped", verified=None, runs=1)) == ["a moved job goes on"]
