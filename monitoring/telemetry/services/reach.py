"""Where the figures of a cluster come from."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError, InputError
from gridportal.local.local_backend import node_names
from monitoring.clusters.selectors import setting
from monitoring.telemetry.adapters import grid
from monitoring.telemetry.adapters.base import Telemetry
from monitoring.telemetry.adapters.local import LocalTelemetry
from monitoring.telemetry.adapters.slurm import SlurmTelemetry
from monitoring.telemetry.services.slurm_access import SlurmFacts


def telemetry(cluster: str = "grid") -> Telemetry:
    """Where the figures of `cluster` come from. Raises BackendError for a cluster that is not set up (any more)."""
    try:
        found = setting(cluster)
    except InputError as error:
        raise BackendError(f"The cluster {cluster} is not set up here: {error}") from error
    return _TELEMETRY[found.backend](found)


def _grid(cluster: Cluster) -> Telemetry:
    return grid.connect(cluster.state_dir or settings.PORTAL.grid_state_dir)


def _slurm(cluster: Cluster) -> Telemetry:
    below = _grid(cluster) if cluster.probe == "grid" else None
    return SlurmTelemetry(SlurmFacts(cluster), cluster.capacity, below, cluster.probe == "agents")


def _local(cluster: Cluster) -> Telemetry:
    return LocalTelemetry(cluster.name, node_names(cluster.slots), cluster.capacity)


_TELEMETRY: dict[str, Callable[[Cluster], Telemetry]] = {"grid": _grid, "slurm": _slurm, "local": _local}
