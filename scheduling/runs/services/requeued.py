"""A run that waits in the queue of its cluster, perhaps not for the first time: why it was put back, that it waits no
longer than it has to, and that it is placed anew when nodes that were chosen for it take no jobs any more.

A run keeps its nodes, so placing anew means another run: the old one is recalled, that is, marked and taken out of the
queue unless it has started meanwhile, and the job is queued again once the cluster says that it is out. Whoever is
killed in between, the next poll goes on there.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from gridportal.base import run_directory
from gridportal.base.batch_system import RunStatus
from gridportal.base.errors import BackendError
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters import selectors
from monitoring.telemetry.services import sweeps
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.backends import backend
from scheduling.runs.services.steps import advance_run

log = logging.getLogger(__name__)
#: In the queue before a run that was requeued is expedited; more than a second and what clocks differ by.
BREATH = timedelta(seconds=3)


def requeue_reason(run: Run) -> Reason:
    """Why it was put back; none when nobody knows."""
    log_lines = run_directory.last_lines(Path(run.run_dir), count=60)
    try:
        queue = backend(run.job.cluster).queue
        return queue.why_requeued(run.backend_id, run.placement.nodes, log_lines) if queue else NOTHING
    except BackendError as error:
        log.info("job %s: why %s was put back is not known: %s", run.job_id, run.key, error)
        return NOTHING


def expedite(run: Run) -> None:
    """Let it start as soon as its nodes are free, once they have let go of its last attempt. A cluster that does not
    answer starts it two minutes later."""
    if not _breathed(run):
        return
    try:
        queue = backend(run.job.cluster, run.job.owner).queue
        if queue is not None:
            queue.expedite(run.backend_id)
    except BackendError as error:
        log.warning("job %s: %s waits as long as its cluster likes: %s", run.job_id, run.key, error)


def _breathed(run: Run) -> bool:
    """Whether it was seen to be back in the queue long enough ago: slurmd revokes the credential of an attempt by the
    second, and one that starts in that same second is refused and failed by slurmctld."""
    return run.state == RunState.REQUEUED and timezone.now() - run.state_since >= BREATH


def recall(run: Run, status: RunStatus) -> Reason:
    """Take a run that waits out of the queue when one of its nodes takes no jobs; why, or none if it stays."""
    if not (run.is_recalled or status.unavailable or status.restarts):
        return NOTHING
    if status.held and not (run.is_recalled and run.placement.wanted):
        return NOTHING
    shut = closed(run)
    if not (run.is_recalled or shut):
        return NOTHING
    why = Reason.of(Code.RECALLED, cluster=run.job.cluster, closed=shut)
    try:
        queue = backend(run.job.cluster, run.job.owner).queue
        if queue is None:
            return NOTHING
        if run.state != RunState.RECALLING and not advance_run(run, RunState.RECALLING, why, started_at=None):
            return NOTHING
        queue.cancel_pending(run.backend_id)
    except BackendError as error:
        log.warning("job %s: %s could not be recalled yet: %s", run.job_id, run.key, error)
    return why


def closed(run: Run) -> dict[str, str]:
    """Those of its nodes that take no jobs, with the reason; as seen a moment ago. A node of which its cluster has only
    not heard for a moment does not count."""
    try:
        sweeps.refresh_loads(run.job.cluster)
    except BackendError as error:
        log.info("job %s: it is not known which nodes of %s take jobs: %s", run.job_id, run.job.cluster, error)
    chosen = set(run.placement.nodes)
    return {
        node.name: node.closed
        for node in selectors.compute_states(run.job.cluster)
        if node.closed and node.name in chosen and not node.facts.get("unsure")
    }
