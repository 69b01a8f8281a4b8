"""Where the figures of a cluster come from."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from gridportal.clusters import Cluster as Setting
from gridportal.errors import BackendError, InputError
from monitoring.adapters import grid
from monitoring.adapters.base import Telemetry
from monitoring.adapters.slurm import SlurmSource, SlurmTelemetry
from monitoring.selectors import setting

_slurm_source: Callable[[Setting], SlurmSource] | None = None


def provide_slurm(source: Callable[[Setting], SlurmSource]) -> None:
    """Say who asks Slurm. The app that speaks its language does this when it starts; here nothing imports it."""
    global _slurm_source
    _slurm_source = source


def telemetry(cluster: str = "grid") -> Telemetry:
    """Where the figures of `cluster` come from. Raises BackendError for a cluster that is not set up (any more)."""
    try:
        found = setting(cluster)
    except InputError as error:
        raise BackendError(f"The cluster {cluster} is not set up here: {error}") from error
    below = grid.connect(found.state_dir or settings.KNOBS.grid_state_dir)
    if found.backend == "grid":
        return below
    if _slurm_source is None:
        raise BackendError("Nothing here speaks with Slurm; is the app scheduling installed?")
    return SlurmTelemetry(
        _slurm_source(found), found.capacity, below if found.probe == "grid" else None, found.probe == "agents"
    )


def slurm_source(found: Setting) -> SlurmSource:
    """Who asks the Slurm of that cluster. Raises BackendError where nobody offered to."""
    if _slurm_source is None:
        raise BackendError("Nothing here speaks with Slurm; is the app scheduling installed?")
    return _slurm_source(found)
