"""What workers do for the network."""

from __future__ import annotations

import logging
import time

from django.conf import settings

from gridportal.base.errors import BackendError
from gridportal.celery import task
from gridportal.web import worker_load
from monitoring.clusters import selectors as clusters_selectors
from monitoring.history.selectors import series
from monitoring.history.services import compaction
from monitoring.telemetry.services import clusters, polling, sweeps

log = logging.getLogger(__name__)
_PATIENCE = 5


@task(name="monitoring.tasks.measure_network")
def measure_network(cluster: str = "", max_age: float | None = None) -> None:
    """Measure unless the last sweep is younger than `max_age` seconds; 0 measures always. No cluster: each of them,
    in a task of its own, so that one that does not answer holds up no other.

    Without `max_age`: an idle network every PORTAL.measure_every seconds, one on which programs run five times as
    seldom, because a sweep takes bandwidth from them; placements measure when they need to.
    A worker that is behind with its tasks leaves the idle network for another time.
    """
    if max_age is None and worker_load.is_behind():
        log.info("The network was not measured: this worker has more to do than it can.")
        return
    names = [cluster] if cluster else list(clusters_selectors.configured())
    for other in names[1:]:
        measure_network.delay(other, max_age)
    _measure(names[0], max_age)


def _measure(cluster: str, max_age: float | None) -> None:
    try:
        if max_age is None:
            idle = clusters.is_idle(sweeps.refresh_loads(cluster))
            max_age = settings.PORTAL.measure_every * (1 if idle else _PATIENCE)
        sweeps.measure(cluster, max_age=max_age)
    except BackendError as error:
        log.info("The network of %s was not measured: %s", cluster, error)


@task(name="monitoring.tasks.poll_sources")
def poll_sources(cluster: str = "") -> None:
    """Ask the sources of a cluster and keep what they say. No cluster: each of them, in a task of its own, so that
    one that does not answer holds up no other."""
    names = [cluster] if cluster else list(clusters_selectors.configured())
    for other in names[1:]:
        poll_sources.delay(other)
    polling.poll(names[0])


@task(name="monitoring.tasks.keep_history")
def keep_history() -> None:
    """Move what came in lately into blocks, roll up and drop what is old: a share of it each time."""
    for cluster in series.recorded():
        compaction.compact(cluster)
        compaction.age(cluster, now=time.time())
