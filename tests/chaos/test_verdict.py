"""The rules by which the portal's word is held against the ledger."""

from __future__ import annotations

import pytest

from tests.chaos.ledger import Attempt
from tests.chaos.story import Asked, Event, Order, Story, Window
from tests.chaos.verdict import judge

KEY = "job-7-run-1-ab"
LIFE = ("queued", "placing", "starting", "running")


def story(*states: str, **changes) -> Story:
    """A job that went through `states`."""
    steps = zip(("", *states), states, strict=False)
    events = tuple(Event(before, after, "why", "portal") for before, after in steps)
    usual = {"job": 7, "request_key": "k", "application": "chaos-shell", "cluster": "grid", "state": states[-1]}
    return Story(**{**usual, "reason": "why", "is_dated": True, "events": events, "run_keys": (KEY,), **changes})


def attempt(code: int | None = 0, **changes) -> Attempt:
    """One start of its run."""
    ended = None if code is None else 12.0
    usual = {"id": "a", "key": KEY, "job": 7, "is_trial": False, "restart": 0, "began": 10.0, "ended": ended}
    return Attempt(**{**usual, "code": code, **changes})


def rules(stories, ran=(), asked=(), windows=()) -> list[str]:
    """The rules that are broken."""
    broken, _ = judge(list(stories), list(asked), list(ran), list(windows))
    return [each.rule for each in broken]


def test_a_job_that_succeeded_and_ran_once_is_well():
    assert rules([story(*LIFE, "succeeded")], [attempt()], [Asked("k", "ada", [7, 7])]) == []


def test_a_job_that_succeeded_must_have_run_to_its_end():
    assert rules([story(*LIFE, "succeeded")], [attempt(None)]) == ["succeeded means that it ran"]


def test_two_complete_runs_are_one_too_many():
    ran = [attempt(), attempt(id="b", key="job-7-run-2-cd", began=20.0, ended=22.0)]
    known = story(*LIFE, "succeeded", run_keys=(KEY, "job-7-run-2-cd"))
    assert rules([known], ran) == ["never run twice"]


def test_two_complete_runs_are_excused_when_the_first_ended_while_a_person_had_it_put_back():
    ran = [attempt(), attempt(id="b", restart=1, began=20.0, ended=22.0)]
    known = story(*LIFE, "starting", "running", "succeeded")
    order = Order("requeue", 7, 11.8, 12.3)
    assert [len(each) for each in judge([known], [], ran, [], [order])] == [0, 1]
    for other in (Order("requeue", 8, 11.8, 12.3), Order("hold", 7, 11.8, 12.3), Order("requeue", 7, 12.4, 12.5)):
        assert [each.rule for each in judge([known], [], ran, [], [other])[0]] == ["never run twice"]


def test_a_requeued_attempt_may_be_followed_by_a_whole_one():
    life = (*LIFE, "starting", "running", "succeeded")
    assert rules([story(*life)], [attempt(None), attempt(id="b", restart=1)]) == []


def test_one_key_is_started_once_for_each_time_it_was_put_back():
    ran = [attempt(None), attempt(id="b")]
    assert rules([story(*LIFE, "succeeded")], ran) == ["a key starts once"]


def test_an_attempt_beside_a_living_one_is_told():
    assert rules([story(*LIFE, "succeeded")], [attempt(overlaps=True)]) == ["never two at once"]


def test_cancelled_before_it_started_means_that_nothing_ran():
    assert rules([story("queued", "cancelled")]) == []
    assert rules([story("queued", "cancelled")], [attempt(None)]) == ["cancelled before it started"]
    assert rules([story(*LIFE, "cancelling", "cancelled")], [attempt(None)]) == []


def test_failed_though_it_ended_well_is_excused_only_when_nobody_could_record_it():
    failed, ran = story(*LIFE, "failed"), [attempt()]
    assert rules([failed], ran) == ["failed means that it did not end well"]
    full = [Window("fill runs", 11.5, "96 MB", 14.0)]
    assert rules([failed], ran, windows=full) == []
    assert len(judge([failed], [], ran, full)[1]) == 1
    assert rules([failed], ran, windows=[Window("flush redis", 11.5, "", 14.0)]) == [
        "failed means that it did not end well"
    ]


def test_failed_though_it_ended_well_is_excused_when_it_ended_together_with_its_time():
    ran = [attempt(began=10.0, ended=17.5)]
    assert rules([story(*LIFE, "failed", time_limit=8)], ran) == []
    assert rules([story(*LIFE, "failed", time_limit=60)], ran) == ["failed means that it did not end well"]


@pytest.mark.parametrize("state", ["queued", "placing", "starting", "running", "cancelling"])
def test_a_job_in_a_passing_state_is_stuck(state):
    life = {"queued": 1, "placing": 2, "starting": 3, "running": 4}.get(state)
    states = LIFE[:life] if life else (*LIFE, "cancelling")
    assert rules([story(*states)]) == ["nothing is stuck"]


def test_who_waits_needs_a_reason():
    assert rules([story("queued", "placing", "waiting")]) == []
    assert rules([story("queued", "placing", "waiting", reason="")]) == ["every end has a reason"]


def test_an_accepted_job_that_is_gone_is_told():
    assert rules([], asked=[Asked("k", "ada", [9])]) == ["an accepted job exists"]


def test_a_key_that_made_two_jobs_is_told():
    two = [story(*LIFE, "succeeded"), story(*LIFE, "succeeded", job=8, run_keys=("job-8-run-1-cd",))]
    ran = [attempt(), attempt(id="b", key="job-8-run-1-cd", job=8)]
    assert rules(two, ran, [Asked("k", "ada", [7])]) == ["one key, one job"]


def test_a_run_that_the_portal_does_not_know_is_told():
    assert rules([story(*LIFE, "succeeded")], [attempt(), attempt(id="b", job=9, key="job-9-run-1-x")]) == [
        "what runs is known"
    ]


def test_a_life_that_jumps_or_ends_twice_is_told():
    assert rules([story("queued", "running", "succeeded")], [attempt()]) == ["a legal life"]
    ends = story(*LIFE, "succeeded", "succeeded")
    assert rules([ends], [attempt()]) == []  # said twice in the same state, as holding a job does
    again = story(*LIFE, "failed", "succeeded")
    assert rules([again], [attempt()]) == ["a legal life", "it ends once"]


def test_an_end_without_a_time_and_with_open_runs_is_told():
    known = story(*LIFE, "succeeded", is_dated=False, open_runs=(KEY,))
    assert rules([known], [attempt()]) == ["every end has a time", "an end ends the runs"]


def test_other_applications_are_judged_by_their_life_alone():
    assert rules([story(*LIFE, "succeeded", application="nas-cg")]) == []
