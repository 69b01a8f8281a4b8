"""The life of a skeleton's run on one candidate group."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class SkeletonState(StrEnum):
    """Where a skeleton's run is. The database column holds these words."""

    PLANNED = "planned"
    RUNNING = "running"
    STOPPING = "stopping"  # it need not go on; the backend is stopping it
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    SKIPPED = "skipped"


_ENDS = {SkeletonState.DONE, SkeletonState.FAILED, SkeletonState.STOPPED}
SKELETON_LIFE = Lifecycle(
    {
        SkeletonState.PLANNED: {SkeletonState.RUNNING, SkeletonState.SKIPPED},
        SkeletonState.RUNNING: {SkeletonState.STOPPING, *_ENDS},
        SkeletonState.STOPPING: _ENDS,
        SkeletonState.DONE: (),
        SkeletonState.FAILED: (),
        SkeletonState.STOPPED: (),
        SkeletonState.SKIPPED: (),
    }
)
