"""What a decision says once its move is over, and what is told of moves that no decision asked for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason, text_reason
from scheduling.checkpoints.selectors import MoveStory, RestartPoint
from scheduling.jobs.models import Job
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.place_messages import map_legend, now_label, target_label
from scheduling.runs.continuation_models import Continuation
from scheduling.templatetags.moves import move_finding
from tests.scheduling.pages.test_moves import words_of
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_move_rules import moved_by_hand

FEW = "None of 6 nodes is free, and 2 were asked for."


@pytest.fixture
def job(make_job: Any, people: Any) -> Job:
    made: Job = make_job(people["user"], "running")
    return made


def failed(job: Job) -> MoveDecision:
    decision = propose(job, state="failed")
    why = Reason.of(Code.MOVE_REFUSED, why=text_reason(FEW))
    DecisionEvent.objects.create(decision=decision, to_state="failed", reason=why)
    return decision


@pytest.mark.parametrize(
    ("state", "now", "there"),
    [
        ("proposed", "Now on", "Would go to"),
        ("moving", "Now on", "Goes to"),
        ("moved", "Ran on", "Went to"),
        ("verified", "Ran on", "Went to"),
        ("failed", "Ran on", "Should have gone to"),
        ("refused", "Ran on", "Would have gone to"),
    ],
)
def test_both_node_sets_are_told_of_in_the_right_time(
    client_as: Any, job: Job, state: str, now: str, there: str
) -> None:
    row = propose(job, state=state)
    assert (now_label(row), target_label(row)) == (now, there)
    ran = "runs" if now == "Now on" else "ran when this was weighed"
    assert map_legend(row).startswith(f"Filled: where the job {ran}, with its ranks.")
    assert f"where it {there[0].lower()}{there[1:].removesuffix(' to')}." in map_legend(row)
    shown = words_of(client_as("operator").get(row.get_absolute_url()))
    assert f"Rank {now} {there} 0 n1 n3" in shown
    assert ("Now on" in shown) is (now == "Now on")


def test_a_decision_whose_move_failed_says_so_first(client_as: Any, job: Job) -> None:
    row = failed(job)
    lead = f"The move failed. Nothing was stopped: {FEW}"
    shown = words_of(client_as("operator").get(row.get_absolute_url()))
    assert shown.index(lead) < shown.index("Moving was to end this job")
    assert "Moving should end" not in shown
    listed = words_of(client_as("operator").get("/migrations/?show=moved"))
    assert lead in listed
    assert "sooner" not in listed
    [line] = decision_messages.decision_rows([(row, None)])
    assert line.summary == lead


def test_moves_without_a_decision_stand_below_those_with_one(client_as: Any, job: Job) -> None:
    moved_by_hand(job, 4, why="quieter there")
    for name, sees in (("operator", True), ("user", True), ("other", False)):
        shown = words_of(client_as(name).get("/migrations/?show=moved"))
        assert ("quieter there" in shown) is sees, name
        assert ("Moves without a decision" in shown) is sees, name
    assert "Moves without a decision" not in words_of(client_as("operator").get("/migrations/?show=not-moved"))


def test_a_stopped_job_is_not_told_that_nothing_was_stopped(job: Job) -> None:
    refused = Continuation(state="refused", reason=Reason.of(Code.MOVE_REFUSED, why=text_reason(FEW)))
    story = MoveStory(None, [], [], [refused], RestartPoint(3, "", None))
    assert move_finding(story, Job(state="running")) == f"Nothing was stopped: {FEW}"
    assert move_finding(story, Job(state="stopped")).startswith("It can go on from the checkpoint 3")
    refused.reason = Reason.of(Code.CONTINUE_REFUSED, why=text_reason(FEW))
    assert move_finding(story, Job(state="stopped")) == f"It did not go on: {FEW}"


def test_a_move_that_could_not_begin_has_failed_in_both_tables(client_as: Any, job: Job) -> None:
    move = moved_by_hand(job, 4, state="refused", stop_sent_at=None)
    MoveDecision.objects.filter(pk=failed(job).pk).update(continuation=move)
    shown = words_of(client_as("user").get(f"/jobs/{job.pk}/"))
    assert shown.count("✕ failed") == 2
    assert "refused" not in shown


def test_the_time_limit_is_told_where_it_comes_before_the_work_is_done(client_as: Any, job: Job) -> None:
    row = propose(job)  # it takes 4,178 s where it is, 2,043 s there
    operator = client_as("operator")
    job.runs.update(started_at=row.created_at - timedelta(seconds=100))

    def said(limit: int | None, **fields: Any) -> str:
        Job.objects.filter(pk=job.pk).update(time_limit=limit, **fields)
        pages = [words_of(operator.get(address)) for address in (row.get_absolute_url(), "/migrations/")]
        assert len({"time limit" in page for page in pages}) == 1
        return pages[0]

    for enough in (None, 4300):
        assert "time limit" not in said(enough)
    shown = said(2200)
    assert "35 min after this was weighed: before its 1 h 09 min of work are done." in shown
    assert "A run that goes on elsewhere has a new time limit of 36 min 40 s." in shown
    assert "goes on by itself" not in shown
    shown = said(2000, continues=True)
    assert "a new time limit of 33 min 20 s, which ends it before its 34 min 3 s of work are done too." in shown
    assert "it goes on by itself where it stopped with a checkpoint" in shown
    MoveDecision.objects.filter(pk=row.pk).update(state="declined", state_since=timezone.now())
    assert "its time limit would have ended it at" in words_of(operator.get(row.get_absolute_url()))
