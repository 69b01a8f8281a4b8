"""What many jobs are placed with: the network as it is now, who has which nodes, and selections made once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.utils import timezone

from gridportal.base.errors import BackendError
from gridportal.base.reasons import NOTHING, Reason
from gridportal.network.link_columns import link_columns
from gridportal.network.topology import Topology
from monitoring.clusters import selectors
from monitoring.status.selectors import network_status as status_network
from monitoring.status.selectors.network_status import NetworkStatus
from monitoring.telemetry.core.figures import FORECAST
from monitoring.telemetry.services import sweeps
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.matching.selectors import resource_ads
from scheduling.placing.core.room import Ledger, uses
from scheduling.placing.selectors.occupancy import Occupancy, occupancy
from scheduling.placing.selectors.rooms import ledger, shares_nodes
from scheduling.placing.services.choosing import Remembered, WaitsError, policy_of
from scheduling.placing.services.requests import with_cluster_defaults
from scheduling.placing.services.waiting_line import Waiting
from scheduling.runs.models import Run
from scheduling.runs.services.backends import silence_reason
from scheduling.skeletons.models import SkeletonRun
from scheduling.skeletons.services import stored_skeletons

#: For how many seconds jobs are placed with the same figures.
_KEPT = 2.0


class PlacementSnapshot:
    """One look at a cluster. Raises WaitsError with the reason when it does not answer.

    `took`: the seconds that it waited for telemetry, and in which the network was made of that. `max_age`: how many
    seconds old a measurement may be; usually what placements go by, and none that a run has disturbed.
    """

    def __init__(self, cluster: str, max_age: float | None = None) -> None:
        self.cluster = cluster
        self.status, self.took = _measured(cluster, max_age)
        self._made = time.monotonic()
        self._seen: dict[str, tuple[Occupancy, RankRequest, bool]] = {}
        self._ledger: Ledger | None = None
        self._digests: dict[tuple[str, str], str] = {}
        #: As choosing.answer, once for equal questions.
        self.answer = Remembered()
        self._skeletons: dict[tuple[Any, ...], stored_skeletons.SkeletonFigures | None] = {}
        self._any_skeleton: dict[int, bool] = {}
        self._no_skeleton: dict[tuple[Any, ...], Reason] = {}

    def status_for(self, requirements: Requirements) -> NetworkStatus:
        """The network by the figures that a job with these requirements goes by."""
        return self._ahead if requirements.figures == FORECAST else self.status

    @property
    def is_old(self) -> bool:
        """Whether it is time to look again."""
        return time.monotonic() - self._made > _KEPT

    def look_again(self) -> None:
        """Forget who has which nodes; the network stays as it was measured."""
        self._seen.clear()
        self._ledger = None

    def occupancy(self, job: Job | Waiting) -> Occupancy:
        """Which nodes a job cannot have, those that were placed with this snapshot included."""
        options, ranks = with_cluster_defaults(job.options, self.cluster), job.rank_request
        mpi = job.mpi if isinstance(job, Waiting) else job.application.mpi
        key = repr((options, job.time_limit, ranks, mpi))
        if key not in self._seen:
            if self._ledger is None:
                self._ledger = ledger(self.cluster)
            seen = occupancy(self.cluster, options, job.time_limit, ranks, self._ledger, mpi)
            self._seen[key] = seen, ranks, options.exclusive
        return self._seen[key][0]

    def take(self, job: Job, nodes: Iterable[str]) -> None:
        """The job is placed on `nodes`, each once for each of its ranks there, though nothing is stored yet."""
        if self._ledger is None:
            return
        new = uses(job.rank_request, nodes, exclusive=job.options.exclusive)
        self._ledger.take(job.pk, new)
        for seen, ranks, exclusive in self._seen.values():
            seen.look_again(new, self._ledger, ranks, exclusive=exclusive)

    def skeleton(self, job: Job) -> stored_skeletons.SkeletonFigures | None:
        """The skeleton that stands for the job's program; looked for once for equal jobs."""
        key = self._skeleton_key(job)
        if key not in self._skeletons:
            self._skeletons[key] = stored_skeletons.best_figures(job.application, job.parameters, job.ranks)
        return self._skeletons[key]

    def no_skeleton(self, job: Job) -> Reason:
        """Why `skeleton` found none; none of a program that has none at all. Looked for once for equal jobs."""
        if job.application_id not in self._any_skeleton:
            self._any_skeleton[job.application_id] = job.application.skeletons.exists()
        if not self._any_skeleton[job.application_id]:
            return NOTHING
        key = self._skeleton_key(job)
        if key not in self._no_skeleton:
            self._no_skeleton[key] = stored_skeletons.why_none(job.application, job.parameters, job.ranks)
        return self._no_skeleton[key]

    def _skeleton_key(self, job: Job) -> tuple[Any, ...]:
        return job.application_id, repr(sorted(job.parameters.items())), job.ranks

    @cached_property
    def has_policies(self) -> bool:
        """Whether administrators say who may use nodes."""
        return resource_ads(self.cluster).exists()

    def figures(self, job: Job | Waiting) -> str:
        """Everything that decides whether this job can be placed, as one word: refused on it, it would be again."""
        seen, asked = self.occupancy(job), job.requirements
        # Either the best nodes are looked for, not any, or a request may ask for whatever there is.
        best = policy_of(self.cluster, job.busy_policy) != "again" or bool(job.classad)
        parts = [self._structure, repr(sorted(seen.unfit)), repr(sorted(seen.occupied))]
        if self.has_policies:  # the hour may decide
            parts.append(f"{timezone.now():%H:%M}")
        if shares_nodes(self.cluster):
            parts.append(repr(sorted(seen.free.items())))
        if best or asked.min_bandwidth:
            parts.append(self._figures(asked, "bandwidths"))
        if best or asked.min_cpu:
            parts.append(self._figures(asked, "loads"))
        return _word("/".join(parts))

    def unchanged(self, job: Job | Waiting) -> bool:
        """Whether the job was refused on these very figures."""
        return bool(job.refused) and job.refused == self.figures(job)

    @cached_property
    def _structure(self) -> str:
        nodes = self.status.topology.nodes
        return _word(repr([(node.id, node.kind, sorted(node.labels.items())) for node in nodes]))

    def _figures(self, requirements: Requirements, what: Literal["bandwidths", "loads"]) -> str:
        """The bandwidths or loads that a job with these requirements goes by, as one word."""
        status = self.status_for(requirements)
        key = (status.when.kind, what)
        if key not in self._digests:
            network = status.topology
            loads = [(node.cpu, node.speed) for node in network.nodes]
            self._digests[key] = _rates(network) if what == "bandwidths" else _word(repr(loads))
        return self._digests[key]

    @cached_property
    def _ahead(self) -> NetworkStatus:
        return status_network.network_status(self.cluster, when=FORECAST) or self.status


class Took(NamedTuple):
    """Seconds of waiting for telemetry, and of making the network of it."""

    telemetry: float
    information: float


def _measured(cluster: str, max_age: float | None) -> tuple[NetworkStatus, Took]:
    """The network, measured not too long ago, with the loads of this moment, and what that took."""
    begun = time.perf_counter()
    try:
        usual = 0.0 if _disturbed(cluster) else settings.PORTAL.measure_max_age
        sweeps.measure(cluster, max_age=usual if max_age is None else max_age)
        sweeps.refresh_loads(cluster)
    except BackendError as error:
        raise WaitsError(silence_reason(cluster, str(error))) from error
    measured = time.perf_counter()
    status = status_network.network_status(cluster)
    if status is None:
        raise WaitsError(silence_reason(cluster, "Nothing is known of the cluster yet."))
    return status, Took(measured - begun, time.perf_counter() - measured)


def _disturbed(cluster: str) -> bool:
    """Whether the last measurement saw a run that has ended since: its nodes and links are better than they look."""
    row = selectors.cluster(cluster)
    if row is None or row.measured_at is None:
        return False
    meanwhile = {"job__cluster": cluster, "ended_at__gt": row.measured_at, "started_at__lt": row.measured_at}
    return Run.objects.filter(**meanwhile).exists() or SkeletonRun.objects.filter(**meanwhile).exists()


def _rates(network: Topology) -> str:
    """What its links can carry, and by which rules. O(links), some milliseconds for half a million of them."""
    links = link_columns(network)
    parts = (links.source.tobytes(), links.target.tobytes(), links.bandwidth.tobytes())
    return hashlib.sha256(b"".join((repr(network.routing).encode(), *parts))).hexdigest()


def _word(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
