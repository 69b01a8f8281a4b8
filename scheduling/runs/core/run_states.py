"""The life of a run, and which state of a job belongs to each of its states."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.core.states import JobState


class RunState(StrEnum):
    """Where a run is, and how it ended. The database column holds these words."""

    PREPARED = "prepared"  # placement and script are written; no backend has it
    SUBMITTED = "submitted"  # its backend has it, and it waits there
    HELD = "held"  # it waits there until somebody releases it
    REQUEUED = "requeued"  # it had started, and its cluster put it back into the queue
    RECALLING = "recalling"  # the portal takes it out of the queue, to choose other nodes
    RUNNING = "running"
    HALTING = "halting"  # it is asked to stop with a checkpoint; until it does it computes on
    MISSING = "missing"  # its backend does not know it at the moment
    STOPPING = "stopping"  # its job was cancelled; the backend is stopping it
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RECALLED = "recalled"  # it never started, and the next run has other nodes
    CHECKPOINTED = "checkpointed"  # it was stopped in a state from which the next run goes on


#: In these it waits in the queue of its backend.
WAITS = (RunState.SUBMITTED, RunState.HELD, RunState.REQUEUED)
_ENDS = {RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED}
#: From wherever its backend has it.
_ANYWHERE = {RunState.MISSING, RunState.STOPPING, RunState.CHECKPOINTED, *_ENDS}
_WAITING = {*WAITS, RunState.RUNNING, RunState.RECALLING, *_ANYWHERE}
RUN_LIFE = Lifecycle(
    {
        RunState.PREPARED: {RunState.SUBMITTED, RunState.STOPPING, RunState.FAILED},
        RunState.SUBMITTED: _WAITING,
        RunState.HELD: _WAITING,
        RunState.REQUEUED: _WAITING,
        RunState.RECALLING: {RunState.RUNNING, RunState.RECALLED, *_ANYWHERE},
        RunState.RUNNING: {*WAITS, RunState.HALTING, *_ANYWHERE},
        RunState.HALTING: {*WAITS, RunState.RUNNING, *_ANYWHERE},
        RunState.MISSING: {  # found again; or handed over again, where it was lost before it began
            RunState.PREPARED,
            *_WAITING,
            RunState.HALTING,
            RunState.RECALLED,
        }
        - {RunState.MISSING},
        RunState.STOPPING: {RunState.MISSING, *_ENDS},
        **dict.fromkeys((*_ENDS, RunState.RECALLED, RunState.CHECKPOINTED), ()),
    }
)
#: In these it holds its nodes; a job has one run at most that is in one of them.
OPEN = tuple(state for state in RunState if not RUN_LIFE.is_final(state))

#: The state of its job, which goes along with it; none: the job stays as it is.
JOB_STATE: dict[RunState, JobState | None] = {
    **dict.fromkeys((RunState.PREPARED, *WAITS), JobState.STARTING),
    RunState.RECALLING: JobState.MOVING,
    RunState.RUNNING: JobState.RUNNING,
    RunState.HALTING: JobState.MOVING,
    RunState.MISSING: None,
    RunState.STOPPING: JobState.CANCELLING,
    RunState.SUCCEEDED: JobState.SUCCEEDED,
    RunState.FAILED: JobState.FAILED,
    RunState.CANCELLED: JobState.CANCELLED,
    RunState.RECALLED: JobState.QUEUED,
    RunState.CHECKPOINTED: JobState.MOVING,
}
