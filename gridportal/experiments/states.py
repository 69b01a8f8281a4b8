"""The life of an experiment as a state machine: which states there are, and which may follow which."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class ExperimentState(StrEnum):
    """Where an experiment is. The database column holds these words."""

    QUEUED = "queued"  # waits for its turn: one runs at a time
    RUNNING = "running"
    STOPPING = "stopping"  # cancel was asked for; it ends after the trial it is at
    STOPPED = "stopped"
    DONE = "done"
    FAILED = "failed"


LIFE = Lifecycle(
    {  # to running from what is over: somebody goes on with it from the command line
        ExperimentState.QUEUED: {  # to failed: its folder cannot be made
            ExperimentState.RUNNING,
            ExperimentState.STOPPED,
            ExperimentState.FAILED,
        },
        ExperimentState.RUNNING: {  # back to queued: its process was killed
            ExperimentState.STOPPING,
            ExperimentState.STOPPED,
            ExperimentState.DONE,
            ExperimentState.FAILED,
            ExperimentState.QUEUED,
        },
        ExperimentState.STOPPING: {ExperimentState.STOPPED, ExperimentState.DONE},
        ExperimentState.STOPPED: {ExperimentState.QUEUED, ExperimentState.RUNNING},
        ExperimentState.FAILED: {ExperimentState.QUEUED, ExperimentState.RUNNING},
        ExperimentState.DONE: {ExperimentState.RUNNING},
    }
)
#: In these it waits or runs.
OPEN = frozenset({ExperimentState.QUEUED, ExperimentState.RUNNING, ExperimentState.STOPPING})
#: In these a machine has it.
AT_WORK = frozenset({ExperimentState.RUNNING, ExperimentState.STOPPING})
OVER = frozenset(ExperimentState) - OPEN
#: What people may stop, and what they may let go on.
CANCELLABLE = frozenset({ExperimentState.QUEUED, ExperimentState.RUNNING})
RESUMABLE = frozenset({ExperimentState.STOPPED, ExperimentState.FAILED})
