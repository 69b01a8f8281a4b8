"""The sentence over a job's checkpoints is true beside their list."""

from __future__ import annotations

import pytest

from scheduling.checkpoints.models import Checkpoint
from scheduling.checkpoints.selectors import MoveStory
from scheduling.jobs.models import Job
from scheduling.runs.services.checkpoint_facts import Health
from scheduling.templatetags.moves import move_finding

NONE_WRITTEN = "It wrote no checkpoint, so that it cannot go on."


def story(*health: str) -> MoveStory:
    written = [Checkpoint(number=number, health=word) for number, word in enumerate(health)]
    return MoveStory(None, written, [], [], None)


def test_a_cancelled_job_with_a_whole_checkpoint_did_write_one():
    job = Job(state="cancelled")
    assert move_finding(story(Health.WHOLE), job) == "It was cancelled: nothing goes on from what it wrote."


def test_a_failed_job_whose_checkpoints_are_all_broken_did_write_some():
    sentence = move_finding(story(Health.SET_ASIDE), Job(state="failed"))
    assert sentence == "Nothing of what it wrote is whole, so that it cannot go on."


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_one_without_any_wrote_none(state):
    assert move_finding(story(), Job(state=state)) == NONE_WRITTEN
