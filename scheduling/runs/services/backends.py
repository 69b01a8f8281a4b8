"""Which backend runs the jobs of a cluster."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from gridportal.accounts.models import User
from gridportal.base.batch_system import Backend
from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError, InputError
from gridportal.base.reasons import Reason
from gridportal.local.local_backend import LocalBackend
from gridportal.slurm.submit import SlurmOptions
from monitoring.clusters.selectors import setting, traits
from monitoring.telemetry.services.slurm_access import slurm
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.runs.adapters import grid
from scheduling.runs.services.sharing import unix_account


def _grid(cluster: Cluster, _owner: User | None, _options: SlurmOptions | None) -> Backend:
    return grid.connect(cluster.state_dir or settings.PORTAL.grid_state_dir)


def _local(cluster: Cluster, _owner: User | None, _options: SlurmOptions | None) -> Backend:
    return LocalBackend(cluster.state_dir or settings.PORTAL.home / "local" / cluster.name, cluster.slots)


#: How a cluster of each kind is reached: its setting, for whom, with which options.
_CONNECT: dict[str, Callable[[Cluster, User | None, SlurmOptions | None], Backend]] = {
    "grid": _grid,
    "slurm": slurm,
    "local": _local,
}


def backend(cluster: str = "grid", owner: User | None = None, options: SlurmOptions | None = None) -> Backend:
    """The backend of `cluster`; with `owner`, one that acts for that person. BackendError comes from its verbs, and
    from here only for a cluster that is not set up any more, or an owner who is nobody there."""
    configured = cluster_setting(cluster)
    return _CONNECT[configured.backend](configured, owner, options)


def cluster_setting(cluster: str) -> Cluster:
    """The cluster's setting. Raises BackendError when there is none (any more)."""
    try:
        return setting(cluster)
    except InputError as error:
        raise BackendError(str(error)) from error


def slurm_options(options: ClusterOptions, cluster: str) -> SlurmOptions | None:
    """A job's options as Slurm's, with the cluster's own where the job says nothing; None where jobs have none."""
    configured = cluster_setting(cluster)
    if not configured.traits.has_options:
        return None
    defaults = {name: getattr(configured, name) for name in ("partition", "account", "qos")}
    whole = {"exclusive": configured.share_nodes is False}
    shared = bool(configured.share_nodes)
    return SlurmOptions(**{**defaults, **whole, **options.document()}, requeue=configured.requeue, shared=shared)


def check_owner(cluster: Cluster, owner: User) -> None:
    """Raises InputError when jobs run as the person who submits and this one has no account by such a name."""
    if cluster.as_person:
        unix_account(cluster, owner.username)


def silence_reason(cluster: str, error: str) -> Reason:
    """Why a job waits whose cluster does not answer."""
    kind = traits(cluster)
    return kind.reason(kind.silent, cluster=cluster, error=error)
