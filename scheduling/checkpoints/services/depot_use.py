"""Who has how much in the depots of each cluster, as these say at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gridportal.base.clusters import Cluster
from gridportal.base.errors import GridPortalError
from monitoring.clusters.selectors import configured
from monitoring.telemetry.services import depots
from monitoring.telemetry.services.depots import DepotReport
from scheduling.jobs.models import Job
from scheduling.runs.services import job_depots


@dataclass(frozen=True, slots=True)
class JobUse:
    """What a job has on a node, `name` as depots call it. `job`: None where it is deleted, or not of this portal."""

    name: str
    job: Job | None
    bytes: int
    shards: int
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class NodeUse:
    """The depot of a node and what jobs have there, the largest first."""

    report: DepotReport
    jobs: tuple[JobUse, ...]


@dataclass(frozen=True, slots=True)
class ClusterUse:
    """The depots of a cluster. `problem`: why nobody can tell; `nodes`: none for a cluster without depots."""

    cluster: str
    nodes: tuple[NodeUse, ...] = ()
    problem: str = ""

    @property
    def bytes(self) -> int:
        """Of all jobs on all nodes."""
        return sum(node.report.bytes for node in self.nodes)


def depot_use(cluster: str = "") -> list[ClusterUse]:
    """Of each cluster with depots, or of one of them; their agents are asked now."""
    wanted = [each for name, each in configured().items() if cluster in ("", name)]
    return [_of_cluster(each) for each in wanted if _has_depots(each)]


def _has_depots(cluster: Cluster) -> bool:
    try:
        return depots.access(cluster, "any") is not None
    except GridPortalError:
        return True  # it has some, and its key cannot be read: that is told


def _of_cluster(cluster: Cluster) -> ClusterUse:
    try:
        reports = depots.reports(cluster)
    except GridPortalError as error:
        return ClusterUse(cluster.name, problem=str(error))
    jobs = _jobs(job.name for report in reports for job in report.jobs)
    return ClusterUse(cluster.name, tuple(_of_node(report, jobs) for report in reports))


def _of_node(report: DepotReport, jobs: Mapping[str, Job]) -> NodeUse:
    rows = [JobUse(each.name, jobs.get(each.name), each.bytes, each.shards, each.written_at) for each in report.jobs]
    return NodeUse(report, tuple(sorted(rows, key=lambda row: (-row.bytes, row.name))))


def _jobs(names: Iterable[str]) -> dict[str, Job]:
    """By what depots call them, in one query."""
    marks = {name: mark for name in set(names) if (mark := job_depots.job_of(name)) is not None}
    rows = Job.objects.select_related("owner", "application").in_bulk({number for number, _ in marks.values()})
    return {
        name: rows[number]
        for name, (number, key) in marks.items()
        if number in rows and rows[number].request_key.hex.startswith(key)
    }
