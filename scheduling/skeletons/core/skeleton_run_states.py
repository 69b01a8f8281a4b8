"""The life of a skeleton's run on one candidate group."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class SkeletonState(StrEnum):
    """Where a skeleton's run is. The database column holds these words."""

    PLANNED = "planned"
    PREPARED = "prepared"  # it may run now, and is handed to its backend
    RUNNING = "running"
    STOPPING = "stopping"  # it need not go on; the backend is stopping it
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    SKIPPED = "skipped"


#: In these it need not be stopped yet, and has its nodes.
GOING = (SkeletonState.PREPARED, SkeletonState.RUNNING)
_ENDS = {SkeletonState.DONE, SkeletonState.FAILED, SkeletonState.STOPPED}
SKELETON_LIFE = Lifecycle(
    {
        SkeletonState.PLANNED: {SkeletonState.PREPARED, SkeletonState.SKIPPED},
        SkeletonState.PREPARED: {SkeletonState.RUNNING, SkeletonState.STOPPING, *_ENDS},
        SkeletonState.RUNNING: {SkeletonState.STOPPING, *_ENDS},
        SkeletonState.STOPPING: _ENDS,
        SkeletonState.DONE: (),
        SkeletonState.FAILED: (),
        SkeletonState.STOPPED: (),
        SkeletonState.SKIPPED: (),
    }
)
