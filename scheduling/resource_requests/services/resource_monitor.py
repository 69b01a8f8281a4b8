"""The resource monitor: ads of a cluster's nodes, from what the portal measures and what the cluster says.

Each kind of information is kept in memory until its time to live is over. Source: Set matching 2002, 3.1.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from django.utils import timezone

from gridportal.network.topology import Topology
from monitoring.clusters import selectors as clusters
from monitoring.status.selectors.network_status import network_status
from monitoring.telemetry.core.figures import FORECAST, NOW
from scheduling.matching.core.resource_ads import NodeFacts, PoolSource, pool_ads
from scheduling.matching.selectors import policies
from scheduling.placing.selectors.node_facts import job_counts, stated_facts, with_jobs
from scheduling.resource_requests.core.timed_values import TimedValues

T = TypeVar("T")


class Kind(StrEnum):
    """Kinds of information."""

    MEASURED = "measured"  # nodes, labels, speeds, loads and bandwidths
    FORECAST = "forecast"
    FACTS = "facts"  # what the cluster says of its nodes
    JOBS = "jobs"  # who has which node
    POLICIES = "policies"  # ads of administrators


#: Seconds for which each kind is kept.
TIMES_TO_LIVE: Mapping[Kind, float] = {
    Kind.MEASURED: 3.0,
    Kind.FORECAST: 10.0,
    Kind.FACTS: 5.0,
    Kind.JOBS: 1.0,
    Kind.POLICIES: 2.0,
}


@dataclass(frozen=True)
class ResourcePool:
    """The resources of a cluster. text: their ads; network: what lies between them; digest: equal for equal ads."""

    text: str
    network: Topology
    digest: str


class ResourceMonitor:
    """Makes pools. clock: seconds that only rise."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._values = TimedValues(clock)

    def pool(self, cluster: str, *, forecast: bool = False) -> ResourcePool:
        """The resources of a cluster now. Raises InputError for a cluster that is not set up, BackendError while
        nothing is known of it."""
        source = self.source(cluster, forecast=forecast)
        text = pool_ads(source)
        return ResourcePool(text, source.network, hashlib.sha256(text.encode()).hexdigest())

    def source(self, cluster: str, *, forecast: bool = False) -> PoolSource:
        """What their ads are made of. Raises InputError and BackendError as `pool`."""
        clusters.setting(cluster)
        network = self._get(Kind.FORECAST if forecast else Kind.MEASURED, cluster, lambda: _network(cluster, forecast))
        known = self._get(Kind.POLICIES, cluster, lambda: policies(cluster))
        return PoolSource(cluster, network, self.facts(cluster), known, timezone.localtime())

    def facts(self, cluster: str) -> dict[str, NodeFacts]:
        """What is known of the nodes beside the network."""
        stated = self._get(Kind.FACTS, cluster, lambda: stated_facts(cluster))
        return with_jobs(stated, self._get(Kind.JOBS, cluster, lambda: job_counts(cluster)))

    def forget(self) -> None:
        """Read everything anew."""
        self._values.forget()

    def _get(self, kind: Kind, cluster: str, make: Callable[[], T]) -> T:
        return self._values.get((kind, cluster), TIMES_TO_LIVE[kind], make)


#: The one of this process.
MONITOR = ResourceMonitor()


def _network(cluster: str, forecast: bool) -> Topology:
    status = network_status(cluster, when=FORECAST if forecast else NOW, in_steps=False, with_errors=False)
    if status is None:
        raise clusters.never_reached(cluster)
    return status.topology
