"""Who speaks with the Slurm of a cluster, and what it tells of nodes, offers and switches."""

from __future__ import annotations

import logging
from functools import cached_property, lru_cache

from django.conf import settings

from gridportal.accounts.models import User
from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError, ImpossibleError, InputError
from gridportal.network import importers, topology_files
from gridportal.network import topology as core
from gridportal.network.importers.hostlist import expand
from gridportal.slurm import occupancy, topology_conf, tree
from gridportal.slurm.associations import by_user
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.nodes import SlurmNode
from gridportal.slurm.submit import SlurmOptions
from gridportal.testbed.client import Grid
from monitoring.clusters.core.offers import AccountOffers, PartitionOffers, QosLimits

log = logging.getLogger(__name__)


def slurm(cluster: Cluster, owner: User | None = None, options: SlurmOptions | None = None) -> SlurmBackend:
    """Slurm's own backend; kept for the process when it is only asked, because it remembers the cluster's version."""
    if owner is None and options is None and not _on_grid(cluster):
        return _asking(cluster.model_dump_json())
    read = slurm_commands(cluster)
    write = read
    if owner is not None and cluster.as_person:
        try:
            write = SlurmCommands(cluster.prefix_for(owner.username), cluster.timeout, cluster.slurm_conf)
        except InputError as error:
            raise BackendError(f"{owner.username} cannot act on {cluster.name}: {error}") from error
    elif not cluster.as_person and cluster.prefix != read.prefix and cluster.prefix:
        write = SlurmCommands(cluster.prefix, cluster.timeout, cluster.slurm_conf)
    return SlurmBackend(read, write, options)


def slurm_commands(cluster: Cluster) -> SlurmCommands:
    """How Slurm is asked. Slurm on an emulated Grid is where the Grid says."""
    if not _on_grid(cluster):
        return SlurmCommands(cluster.asking_prefix, cluster.timeout, cluster.slurm_conf)
    info = Grid(cluster.state_dir or settings.PORTAL.grid_state_dir).slurm_info()
    if info is None:
        raise BackendError(f"The Grid of {cluster.name} is up without Slurm; start it with --slurm.")
    return SlurmCommands(tuple(info["prefix"]), cluster.timeout)


def submitting_commands(cluster: Cluster) -> SlurmCommands:
    """How Slurm is given jobs, where that is the same for everybody."""
    if _on_grid(cluster) or not cluster.prefix:
        return slurm_commands(cluster)
    return SlurmCommands(cluster.prefix, cluster.timeout, cluster.slurm_conf)


class SlurmFacts:
    """Slurm as monitoring.telemetry.adapters.slurm wants to ask it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def _backend(self) -> SlurmBackend:
        return slurm(self._cluster)

    def nodes(self) -> list[SlurmNode]:
        """All nodes."""
        return self._backend.describe_nodes()

    def offers(self) -> PartitionOffers:
        """Partitions, reservations, and the accounts and QOS that they name."""
        partitions, reservations = self._backend.partitions(), self._backend.reservations()
        return {
            "partitions": [
                {
                    "name": partition.name,
                    "default": partition.default,
                    "up": partition.up,
                    "max_time": partition.max_time,
                    "default_time": partition.default_time,
                    "nodes": len(expand(partition.nodes)),
                }
                for partition in partitions
            ],
            "reservations": [
                {
                    "name": r.name,
                    "start": r.start,
                    "end": r.end,
                    "nodes": expand(r.nodes),
                    "users": list(r.users),
                    "accounts": list(r.accounts),
                }
                for r in reservations
            ],
            "accounts": sorted({name for partition in partitions for name in partition.accounts}),
            "qos": sorted({name for partition in partitions for name in partition.qos}),
            **self._accounts(),
        }

    def _accounts(self) -> AccountOffers:
        """users: the accounts and their QOS of each person known here, or under "" of the one as whom the portal
        submits, who is acts_as. Where slurmdbd does not tell, accounts_error says why."""
        try:
            if not self._backend.cluster().accounting:
                return {}
            if self._cluster.as_person:
                people = set(User.objects.filter(is_active=True).values_list("username", flat=True))
                accounts = by_user(self._backend.associations())
                return {
                    "users": {name: own for name, own in accounts.items() if name in people},
                    "qos_limits": self._qos_limits(),
                }
            name = slurm(self._cluster, options=SlurmOptions()).acts_as()
            return {
                "users": {"": by_user(self._backend.associations([name])).get(name, {})},
                "acts_as": name,
                "qos_limits": self._qos_limits(),
            }
        except BackendError as error:
            log.warning("The accounts of %s are not known: %s", self._cluster.name, error)
            return {"accounts_error": f"Which accounts there are is not known: {error}"}

    def _qos_limits(self) -> dict[str, QosLimits]:
        """What each QOS allows that allows not everything."""
        limits: dict[str, QosLimits] = {
            each.name: {"max_time": each.max_time, "max_jobs": each.max_jobs, "max_submitted": each.max_submitted}
            for each in self._backend.qos()
        }
        return {name: row for name, row in limits.items() if any(row.values())}

    def tree(self) -> core.Topology | None:
        """The file of the setting, else what Slurm tells. Raises BackendError for a file that cannot be read."""
        path, name = self._cluster.topology, self._cluster.name
        if path is None:
            return tree.ask(slurm_commands(self._cluster), default_capacity=self._cluster.capacity, name=name)
        try:
            if path.suffix == ".json":
                return topology_files.load(path)
            text = path.read_text(encoding="utf-8")
            if importers.format_of(text) == "ibnetdiscover":
                return importers.read(text, name, capacity=self._cluster.capacity).believed()
            return topology_conf.parse(text, default_capacity=self._cluster.capacity, name=name)
        except (OSError, UnicodeDecodeError, InputError, ImpossibleError) as error:
            raise BackendError(f"The topology of {name} cannot be read from {path}: {error}") from error

    def busy_until(self) -> dict[str, float | None]:
        """When busy nodes are free at the latest."""
        try:
            return occupancy.busy_until(slurm_commands(self._cluster))
        except InputError as error:
            raise BackendError(f"squeue gave an answer that cannot be read: {error}") from error

    def version(self) -> tuple[str, str, str]:
        """Name and version of the cluster, and a warning where the version was not tried."""
        answered = self._backend.cluster()
        return answered.name or self._cluster.name, "{}.{:02d}.{}".format(*answered.version), answered.warning


def _on_grid(cluster: Cluster) -> bool:
    return cluster.state_dir is not None and not cluster.prefix and not cluster.slurm_conf


@lru_cache(maxsize=32)
def _asking(document: str) -> SlurmBackend:
    cluster = Cluster.model_validate_json(document)
    return SlurmBackend(slurm_commands(cluster))
