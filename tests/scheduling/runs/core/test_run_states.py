"""What may follow what in the life of a run, and that its job can always go along."""

from __future__ import annotations

import pytest

from scheduling.jobs.core.states import HOLDS_NODES, LIFE, JobState
from scheduling.runs.core.run_states import JOB_STATE, OPEN, RUN_LIFE, RunState

STEPS = [(before, after) for before, then in RUN_LIFE.steps.items() for after in sorted(then)]
#: A run that was stopped with a checkpoint belongs to a job that is being moved.
CHECKPOINTS = {(RunState.RUNNING, RunState.CHECKPOINTED)}


@pytest.mark.parametrize(("before", "after"), [step for step in STEPS if step not in CHECKPOINTS])
def test_a_job_can_go_along_with_every_step_of_its_run(before: RunState, after: RunState) -> None:
    job, then = JOB_STATE[before], JOB_STATE[after]
    assert None in (job, then) or job == then or LIFE.may_follow(job, then)


def test_each_state_of_a_run_belongs_to_a_state_of_its_job_and_open_runs_hold_nodes() -> None:
    assert set(JOB_STATE) == set(RunState)
    assert {JOB_STATE[state] for state in OPEN} == {*HOLDS_NODES, None}


def test_a_checkpoint_ends_a_run_and_not_its_job() -> None:
    assert RUN_LIFE.is_final(RunState.CHECKPOINTED)
    assert LIFE.may_follow(JobState.RUNNING, JobState.MOVING)
    assert JOB_STATE[RunState.CHECKPOINTED] == JobState.MOVING


def test_a_run_is_recalled_before_it_started_only() -> None:
    assert {before for before, after in STEPS if after == RunState.RECALLED} == {RunState.RECALLING, RunState.MISSING}
