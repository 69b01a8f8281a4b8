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


def _grid(found: Cluster) -> Telemetry:
    return grid.connect(found.state_dir or settings.PORTAL.grid_state_dir)


def _slurm(found: Cluster) -> Telemetry:
    below = _grid(found) if found.probe == "grid" else None
    return SlurmTelemetry(SlurmFacts(found), found.capacity, below, found.probe == "agents")


def _local(found: Cluster) -> Telemetry:
    return LocalTelemetry(found.name, node_names(found.slots), found.capacity)


_TELEMETRY: dict[str, Callable[[Cluster], Telemetry]] = {"grid": _grid, "slurm": _slurm, "local": _local}
