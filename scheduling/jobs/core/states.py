"""The life of a job as a state machine: which states there are, and which may follow which."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class JobState(StrEnum):
    """Where a job is. The database column holds these words."""

    QUEUED = "queued"  # accepted; no worker has placed it yet
    PLACING = "placing"  # a worker measures the network and selects nodes
    WAITING = "waiting"  # no placement is possible now; the reason says why and what to do
    TRIAL = "trial"  # its skeleton runs on the candidate groups, whose nodes it holds
    STARTING = "starting"  # placed; the run is handed to the backend
    RUNNING = "running"
    MOVING = "moving"  # its run is being taken out of the queue, or stopped, so that the next one starts elsewhere
    STOPPED = "stopped"  # its program has ended with a checkpoint; it goes on when a person says so
    CANCELLING = "cancelling"  # cancel was asked for; the backend is stopping the run
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


LIFE = Lifecycle(
    {
        JobState.QUEUED: {  # waiting: for other jobs, which it is to start after
            JobState.PLACING,
            JobState.WAITING,
            JobState.CANCELLED,
            JobState.FAILED,
        },
        JobState.PLACING: {
            JobState.TRIAL,
            JobState.STARTING,
            JobState.WAITING,
            JobState.QUEUED,
            JobState.FAILED,
            JobState.CANCELLED,
        },
        JobState.TRIAL: {JobState.STARTING, JobState.CANCELLED, JobState.FAILED},
        JobState.WAITING: {  # queued: the jobs that it waited for are over
            JobState.PLACING,
            JobState.QUEUED,
            JobState.CANCELLED,
            JobState.FAILED,
        },
        JobState.STARTING: {
            JobState.RUNNING,
            JobState.MOVING,
            JobState.FAILED,
            JobState.CANCELLING,
            JobState.CANCELLED,
            JobState.SUCCEEDED,
        },
        JobState.RUNNING: {  # back to starting: its cluster put it into the queue again
            JobState.SUCCEEDED,
            JobState.FAILED,
            JobState.CANCELLING,
            JobState.CANCELLED,
            JobState.STARTING,
            JobState.MOVING,
        },
        JobState.MOVING: {  # running: it started before it was taken out of the queue
            JobState.QUEUED,
            JobState.STARTING,
            JobState.RUNNING,
            JobState.STOPPED,
            JobState.CANCELLING,
            JobState.CANCELLED,
            JobState.SUCCEEDED,
            JobState.FAILED,
        },
        JobState.STOPPED: {JobState.MOVING, JobState.CANCELLED, JobState.FAILED},
        JobState.CANCELLING: {JobState.CANCELLED, JobState.SUCCEEDED, JobState.FAILED},
        JobState.SUCCEEDED: (),
        JobState.FAILED: (),
        JobState.CANCELLED: (),
    },
    again={JobState.FAILED: {JobState.STOPPED}},  # it goes on from what it left while it ran
)
FINAL = LIFE.final
ACTIVE = LIFE.open
#: In these a job has not started, and holds nothing.
PENDING = (JobState.QUEUED, JobState.PLACING, JobState.WAITING)
#: In these a job has a run, which holds its nodes; while it is trying all its candidate groups are held.
HOLDS_NODES = frozenset({JobState.STARTING, JobState.RUNNING, JobState.MOVING, JobState.CANCELLING})
