"""What `gridportal doctor` finds of each cluster in GRIDPORTAL_CLUSTERS that is no Grid."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.clusters import Cluster, parse
from gridportal.base.errors import BackendError, ShellError
from gridportal.base.portal_settings import PortalSettings
from gridportal.local.local_backend import node_names
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.examination import Answer, examine
from gridportal.testbed.client import Grid
from gridportal.testbed.environment import search_path

_PATIENCE = 10.0
_IMPORTS = "import sys, numpy, mpi4py, gridportal.runtime; sys.exit(sys.version_info < (3, 11))"


def examined_clusters(settings: PortalSettings) -> list[Cluster]:
    """The configured clusters of which there is something to ask. Raises InputError for a setting that cannot be."""
    return [cluster for cluster in parse(settings.clusters).values() if cluster.backend in _BY_BACKEND]


def is_slurm(cluster: Cluster) -> bool:
    """Whether this cluster is asked by Slurm's commands."""
    return _BY_BACKEND.get(cluster.backend) is _slurm


def answers(cluster: Cluster, settings: PortalSettings) -> Iterator[Answer]:
    """Everything that is asked of one cluster, in the order in which it is to be mended."""
    yield from _BY_BACKEND[cluster.backend](cluster, settings)
    yield from _runs(cluster, settings)
    yield from _python(cluster)


def _slurm(cluster: Cluster, settings: PortalSettings) -> Iterator[Answer]:
    try:
        read, write = _slurm_commands(cluster, settings)
    except BackendError as error:
        yield Answer(False, str(error))
    else:
        yield from examine(read, write)


def _local(cluster: Cluster, settings: PortalSettings) -> Iterator[Answer]:
    """Whether ranks can be started here, and where the records of runs are."""
    slots = len(node_names(cluster.slots))
    if shutil.which("mpiexec", path=search_path()) is None:
        yield Answer(False, 'there is no mpiexec: pip install "gridportal[runtime]", or put your MPI on PATH')
    else:
        yield Answer(True, f"{slots} {'rank' if slots == 1 else 'ranks'} at a time on this machine")
    if slots > (processors := len(os.sched_getaffinity(0))):
        few = f"{slots} slots on {processors} processor{'s'[: processors != 1]}, so programs get slow"
        yield Answer(False, f"{few}; set slots to {processors} or less")
    folder = cluster.state_dir or settings.home / "local" / cluster.name
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield Answer(False, f"{there} cannot be written to, so no run can be noted there (state_dir)")
    yield Answer(True, "jobs run as the user who runs the portal, and nothing keeps them apart")


_BY_BACKEND: dict[str, Callable[[Cluster, PortalSettings], Iterator[Answer]]] = {"slurm": _slurm, "local": _local}


def _slurm_commands(cluster: Cluster, settings: PortalSettings) -> tuple[SlurmCommands, SlurmCommands | None]:
    """How the cluster is asked, and how jobs are submitted unless that depends on the person."""
    limit = min(cluster.timeout, _PATIENCE)
    if cluster.state_dir is not None and not cluster.prefix and not cluster.slurm_conf:
        info = Grid(cluster.state_dir).slurm_info()
        if info is None:
            raise BackendError(f"the Grid in {cluster.state_dir} is up without Slurm; start it with --slurm")
        return SlurmCommands(tuple(info["prefix"]), limit), None
    read = SlurmCommands(cluster.asking_prefix, limit, cluster.slurm_conf)
    return read, None if cluster.as_person else SlurmCommands(cluster.prefix, limit, cluster.slurm_conf)


def _runs(cluster: Cluster, settings: PortalSettings) -> Iterator[Answer]:
    """Whether run directories can be made, and whether people get there where jobs run as them."""
    folder = cluster.runs or settings.home / "runs"
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield Answer(False, f"{there} cannot be written to, so no run directory can be made there (runs)")
    if not cluster.as_person:
        return
    if closed := _closed(folder):
        yield Answer(False, f"{closed} is closed to others, so nobody gets to a run directory in {folder} (runs)")
    if os.geteuid() != 0 and shutil.which("setfacl") is None:
        yield Answer(False, "setfacl is not installed, so no run directory can be shared: apt-get install acl")


def _closed(folder: Path) -> Path | None:
    """The topmost folder on the way that others may not pass; one with an access list may let them."""
    for path in (*reversed(folder.parents), folder):
        closed = path.exists() and not path.stat().st_mode & stat.S_IXOTH
        if closed and "system.posix_acl_access" not in os.listxattr(path):
            return path
    return None


def _python(cluster: Cluster) -> Iterator[Answer]:
    if not cluster.python:
        return
    if not Path(cluster.python).exists():
        yield Answer(True, f"{cluster.python} is not seen from here, so it was not tried")
        return
    try:
        shell.run([cluster.python, "-c", _IMPORTS], timeout=_PATIENCE)
    except ShellError as error:
        yield Answer(False, f"{cluster.python} cannot run the shipped programs, install gridportal[runtime]: {error}")
    else:
        yield Answer(True, f"{cluster.python} has gridportal[runtime]")
