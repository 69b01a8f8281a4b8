"""The life of a skeleton's run on one candidate group."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class SkeletonState(StrEnum):
    """Where a skeleton's run is. The database column holds these words."""

    PLANNED = "planned"
    PREPARED = "prepared"  # it may run now, and is handed to its backend
    RUNNING = "running"
    MISSING = "missing"  # its backend does not know it at the moment
    STOPPING = "stopping"  # it need not go on; the backend is stopping it
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    SKIPPED = "skipped"


#: In these it is at its backend.
THERE = (SkeletonState.RUNNING, SkeletonState.MISSING, SkeletonState.STOPPING)
#: In these it has its nodes.
AT_WORK = (SkeletonState.PREPARED, *THERE)
_ENDS = {SkeletonState.DONE, SkeletonState.FAILED, SkeletonState.STOPPED}
SKELETON_LIFE = Lifecycle(
    {
        SkeletonState.PLANNED: {SkeletonState.PREPARED, SkeletonState.SKIPPED},
        SkeletonState.PREPARED: {SkeletonState.RUNNING, SkeletonState.STOPPING, *_ENDS},
        SkeletonState.RUNNING: {SkeletonState.MISSING, SkeletonState.STOPPING, *_ENDS},
        SkeletonState.MISSING: {SkeletonState.RUNNING, SkeletonState.STOPPING, *_ENDS},
        SkeletonState.STOPPING: {SkeletonState.MISSING, *_ENDS},
        SkeletonState.DONE: (),
        SkeletonState.FAILED: (),
        SkeletonState.STOPPED: (),
        SkeletonState.SKIPPED: (),
    }
)
