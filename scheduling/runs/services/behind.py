"""A run that waits in the queue of its cluster for no other cause than that other jobs are on its nodes."""

from __future__ import annotations

from gridportal.base.batch_system import RunStatus
from gridportal.base.reasons import NOTHING, Code, Reason
from monitoring.clusters import selectors
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run


def behind_others(run: Run, status: RunStatus) -> Reason:
    """Which jobs are on which of its nodes, where its cluster says that these may be away and the portal sees that all
    of them take jobs; none where it sees nobody on them, or a node that is closed or kept for others."""
    if not status.unavailable:
        return NOTHING
    chosen = set(run.placement.nodes)
    nodes = selectors.compute_states(run.job.cluster, chosen)
    if any(node.facts.get("reserved") or (node.closed and not node.facts.get("unsure")) for node in nodes):
        return NOTHING
    running = Run.objects.filter(job__cluster=run.job.cluster, state=RunState.RUNNING, ended_at=None)
    on_nodes = {job: chosen & set(theirs) for job, theirs in running.values_list("job_id", "placement__nodes")}
    jobs = sorted(job for job, shared in on_nodes.items() if shared)
    busy = {node.name for node in nodes if node.busy}.union(*on_nodes.values())
    return Reason.of(Code.BEHIND_JOBS, nodes=sorted(busy), jobs=jobs) if busy else NOTHING
