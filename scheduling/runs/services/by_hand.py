"""The script of a run as somebody starts it by hand."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from gridportal.base.batch_system import RunSpec
from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError
from gridportal.slurm.by_hand import by_hand as on_slurm
from gridportal.slurm.submit import SlurmOptions
from scheduling.runs.core import hand_commands
from scheduling.runs.models import Run
from scheduling.runs.services.backends import cluster_setting, slurm_options
from scheduling.runs.services.submissions import spec_of


def script_by_hand(run: Run) -> str:
    """The script that was handed over, with what its cluster was told beside it; the bare one where the cluster is not
    set up any more."""
    job = run.job
    spec = spec_of(run, run.placement.nodes, job.time_limit)
    try:
        cluster, options = cluster_setting(job.cluster), slurm_options(job.options, job.cluster)
    except BackendError:
        return run.script
    return _OF_KIND[cluster.backend](spec, cluster, options or SlurmOptions())


def _grid(spec: RunSpec, cluster: Cluster, _options: SlurmOptions) -> str:
    return hand_commands.on_grid(spec, cluster.state_dir or settings.PORTAL.grid_state_dir)


def _slurm(spec: RunSpec, _cluster: Cluster, options: SlurmOptions) -> str:
    return on_slurm(spec, options)


def _local(spec: RunSpec, _cluster: Cluster, _options: SlurmOptions) -> str:
    return hand_commands.on_this_machine(spec)


#: By the word for `backend` of a cluster's setting.
_OF_KIND: dict[str, Callable[[RunSpec, Cluster, SlurmOptions], str]] = {
    "grid": _grid,
    "slurm": _slurm,
    "local": _local,
}
