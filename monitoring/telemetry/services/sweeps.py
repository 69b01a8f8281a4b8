"""Sweeps over a cluster's network, and looks at its nodes without any transfer."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from gridportal.base.errors import BackendError
from gridportal.database.row_lease import RowLease
from gridportal.network import topology as core
from gridportal.network.sweep_result import Measurement
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import configured
from monitoring.history.core.samples import samples_of
from monitoring.telemetry.services import reach
from monitoring.telemetry.services.clusters import cluster_row, note_error, refresh_cluster, write_states
from monitoring.telemetry.services.last_figures import lock_figures, write_links, write_loads
from monitoring.telemetry.services.readings import record_readings
from monitoring.telemetry.services.sources import note_source

log = logging.getLogger(__name__)
#: The name of the source that sweeps are.
PROBES = "probes"
_LOOK_AGAIN = 0.2
#: How old, in seconds, a look at the nodes of a cluster that answers slowly may be: many jobs are placed with one.
_LOOK_AGE = 2.0
_lease = RowLease(Cluster, "measuring")


def measure(cluster: str = "grid", *, max_age: float | None = None) -> Cluster:
    """One sweep over the network, unless the last one is younger than `max_age` seconds.

    Two workers never measure at once: the second waits for the first and takes its figures. Raises BackendError when
    the cluster does not answer; the cluster's row then says so.
    """
    row = cluster_row(cluster)
    while not _fresh(row, max_age):
        if _sweep_under_lock(row):
            row.refresh_from_db()
            return row
        asked = timezone.now()
        row = _wait(row)
        if row.measured_at and row.measured_at >= asked - timedelta(seconds=max_age or 0.0):
            return row
        if row.error and row.error_at and row.error_at >= asked:
            raise BackendError(row.error)
    return row


def refresh_loads(cluster: str = "grid") -> Cluster:
    """Write down the nodes' load and state of this moment, without any transfer; a sweep only when the nodes are not
    those that are known, as after the Grid was built anew. Where answers take long a look may be two seconds old.
    Raises BackendError; the cluster's row then says so."""
    try:
        return _look(cluster_row(cluster))
    except BackendError as error:
        note_error(cluster, str(error))
        raise


def record(row: Cluster, topology: core.Topology, measured: Measurement) -> None:
    """Write a sweep down: pairs as readings, estimates on links, loads on nodes. Of a cluster in which nothing is sent
    only the loads, which are readings of another source."""
    at = datetime.fromtimestamp(measured.at, UTC)
    with transaction.atomic():
        lock_figures(row)
        write_links(row, topology, measured, at)
        write_loads(row, measured.loads, at)
        Cluster.objects.filter(pk=row.pk).update(
            measured_at=at, probe_seconds=measured.seconds, probe_bytes=measured.bytes, error="", error_at=None
        )
    if not _is_swept(row.name):
        row.sources.filter(name=PROBES).delete()
        return
    record_readings(row.name, PROBES, samples_of(measured))
    note_source(row.name, PROBES, ok_at=measured.at, cost_bytes=measured.bytes, cost_seconds=measured.seconds)


def _look(row: Cluster) -> Cluster:
    now = timezone.now()
    if row.traits.answers_slowly and row.loads_at and 0 <= (now - row.loads_at).total_seconds() < _LOOK_AGE:
        return row
    seen = reach.telemetry(row.name).look()
    names = set(row.nodes.filter(kind="compute").values_list("name", flat=True))
    if names != {load.node for load in seen.loads}:
        return measure(row.name)
    with transaction.atomic():
        lock_figures(row)
        write_loads(row, seen.loads, now)
        write_states(row, seen.states)
        answers = {} if row.traits.part_of_portal else {"error": "", "error_at": None}
        Cluster.objects.filter(pk=row.pk).update(loads_at=now, **answers)
    return row


def _fresh(row: Cluster, max_age: float | None) -> bool:
    if row.measured_at is None or max_age is None:
        return False
    return 0 <= (timezone.now() - row.measured_at).total_seconds() <= max_age


def _sweep_under_lock(row: Cluster) -> bool:
    """False, and nothing done, while another worker measures."""
    with _lease.hold(Cluster.objects.filter(pk=row.pk)) as holder:
        if holder:
            _sweep(row)
    return bool(holder)


def _is_swept(cluster: str) -> bool:
    found = configured().get(cluster)
    return found is None or found.is_swept


def _sweep(row: Cluster) -> None:
    begun = time.monotonic()
    try:
        source = reach.telemetry(row.name)
        facts = source.facts()
        row = refresh_cluster(facts, row.name)
        record(row, facts.topology, source.measure())
        if row.traits.tells_node_states:
            write_states(row, source.look().states)
    except BackendError as error:
        Cluster.objects.filter(pk=row.pk).update(error=str(error), error_at=timezone.now())
        if _is_swept(row.name):
            note_source(row.name, PROBES, error=str(error))
        log.warning("cluster %s could not be measured: %s", row.name, error)
        raise
    log.info("cluster %s: measured in %.1f s", row.name, time.monotonic() - begun)


def _wait(row: Cluster) -> Cluster:
    """Until whoever measures has done so, or its lease is over."""
    while not _lease.is_over(row.measuring_until, timezone.now()):
        time.sleep(_LOOK_AGAIN)
        row.refresh_from_db()
    return row
