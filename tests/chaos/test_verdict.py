"""The rules by which the portal's word is held against the ledger."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Job
from tests.chaos import watch
from tests.chaos.ledger import Attempt
from tests.chaos.story import Asked, Event, Order, Story, Window
from tests.chaos.verdict import judge
from tests.chaos.watch import Held

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


def test_a_run_that_ended_its_job_is_the_last_one():
    lives = ((1, "recalled"), (2, "succeeded"))
    assert rules([story(*LIFE, "succeeded", runs=lives)], [attempt()]) == []
    assert rules([story(*LIFE, "succeeded", runs=((1, "failed"), (2, "succeeded")))], [attempt()]) == [
        "one run after the other"
    ]
    assert rules([story(*LIFE, "succeeded", runs=((2, "succeeded"),))], [attempt()]) == ["one run after the other"]


def test_a_job_ends_as_its_last_run():
    assert rules([story(*LIFE, "failed", runs=((1, "succeeded"),))]) == ["a job ends as its run"]
    assert rules([story(*LIFE, "failed", runs=((1, "missing"),))]) == ["a job ends as its run"]
    assert (
        rules([story("queued", "placing", "starting", "moving", "queued", "cancelled", runs=((1, "recalled"),))]) == []
    )


def test_who_waits_has_no_run():
    assert rules([story("queued", "placing", "waiting", open_runs=(KEY,))]) == ["an end ends the runs"]


HELD = Held(7, "grid", "running", "running", ("n1", "n2"))


@pytest.mark.parametrize(
    ("others", "broken"),
    [
        ([], []),
        ([Held(8, "grid", "trial", "", ("n3",)), Held(8, "grid", "trial", "", ("n3", "n4"))], []),
        ([Held(8, "grid", "trial", "", ("n2",))], ["a node has one job"]),
        ([Held(8, "hpc", "starting", "submitted", ("n2",))], []),
        ([HELD._replace(state="missing", nodes=())], ["one open run"]),
        ([Held(8, "grid", "moving", "missing", ("n3",)), Held(9, "grid", "moving", "recalling", ("n4",))], []),
        ([Held(8, "grid", "running", "recalling", ("n3",))], ["a job goes along with its run"]),
    ],
)
def test_what_is_held_at_one_moment_is_judged(others, broken):
    assert [each.rule for each in watch.judge([HELD, *others])] == broken


@pytest.mark.django_db
def test_rows_are_looked_at_as_they_are(people, make_job):
    one, other = make_job(people["user"], "running"), make_job(people["user"], "running")
    assert [(each.job, each.state) for each in watch.look()] == [(one.pk, "running"), (other.pk, "running")]
    assert {each.rule for each in watch.judge(watch.look())} == {"a node has one job"}
    one.skeleton_runs.create(placement=one.placements.get(), candidate=0, nodes=["n9"], key="x", state="missing")
    assert Held(one.pk, one.cluster, "running", "", ("n9",)) in watch.look()
    assert watch.unreturned() == []
    Job.objects.filter(pk=one.pk).update(lease_holder="somebody", state="failed")
    assert [each.rule for each in watch.unreturned()] == ["an end ends the lease"]


def test_an_end_without_a_time_and_with_open_runs_is_told():
    known = story(*LIFE, "succeeded", is_dated=False, open_runs=(KEY,))
    assert rules([known], [attempt()]) == ["every end has a time", "an end ends the runs"]


def test_other_applications_are_judged_by_their_life_alone():
    assert rules([story(*LIFE, "succeeded", application="nas-cg")]) == []


@pytest.mark.parametrize(
    ("states", "well"),
    [
        (["checkpointed", "succeeded"], True),
        (["checkpointed", "failed", "succeeded"], True),
        (["failed", "succeeded"], False),
        (["succeeded", "succeeded"], False),
    ],
)
def test_a_run_is_followed_by_another_where_its_job_was_moved(states: list[str], well: bool) -> None:
    runs = tuple(enumerate(states, start=1))
    broken = rules([story(*LIFE, "succeeded", application="chaos-count", runs=runs)])
    assert ("one run after the other" not in broken) is well
