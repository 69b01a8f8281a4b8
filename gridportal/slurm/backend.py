"""Slurm as a backend: one squeue for all runs of a poll, and each key submitted once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gridportal.base.batch_system import BackendNode, BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError, RefusedError
from gridportal.base.rank_order import is_even
from gridportal.slurm import associations, qos
from gridportal.slurm import submit as sbatch
from gridportal.slurm.associations import Association
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.control import Control
from gridportal.slurm.forecast import SlurmForecast
from gridportal.slurm.inventory import Answers, Inventory
from gridportal.slurm.jobs import Job, gather, is_id, newest
from gridportal.slurm.lookup import Lookup
from gridportal.slurm.nodes import SlurmNode
from gridportal.slurm.once import attempt
from gridportal.slurm.partitions import Partition, Reservation
from gridportal.slurm.pending import Pending, explain
from gridportal.slurm.qos import Qos
from gridportal.slurm.queue import SlurmQueue
from gridportal.slurm.submit import SlurmOptions
from gridportal.slurm.versions import Cluster

log = logging.getLogger(__name__)


class SlurmBackend:
    """Runs on a Slurm cluster. A run's id is Slurm's job number; every verb also takes the run's key instead.

    `read` asks, for everybody's jobs at once; `write` submits, cancels and holds: `("sudo", "-n", "-u", "ann")` makes
    the jobs ann's. Verbs raise BackendError in one sentence; RefusedError when Slurm answered no.
    """

    def __init__(
        self,
        read: SlurmCommands | None = None,
        write: SlurmCommands | None = None,
        options: SlurmOptions | None = None,
        *,
        name: str = "slurm",
        answers: Answers = "text",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._read = read or SlurmCommands()
        self._write = write or self._read
        self._options = options or SlurmOptions()
        self._jobs = Lookup(self._read, clock, answers)
        self._control = Control(self._write)
        self._inventory = Inventory(self._read, self.cluster, answers)
        self.queue = SlurmQueue(self._control, self._jobs, self._inventory, self._id)
        self.forecast = SlurmForecast(self._write, self._options)

    def submit(self, spec: RunSpec, options: SlurmOptions | None = None) -> str:
        """Submit once: the job that bears the key already, or a new one.

        A first attempt asks Slurm nothing. A retry looks the key up before, and after: should an earlier attempt
        have reached Slurm late, the job submitted last is cancelled.
        """
        chosen = self._with_parts(spec, options or self._options)
        argv, script = sbatch.argv(spec, chosen), sbatch.script(spec, chosen)
        with attempt(spec.run_dir, spec.key, patience=4 * self._write.timeout) as first:
            if first:
                return self._submit(argv, script, chosen)
            earlier = self.find(spec.key)
            return earlier if earlier else self._keep_one(spec.key, self._submit(argv, script, chosen))

    def find(self, key: str) -> str | None:
        """The id of the job that was submitted under `key`, in the queue or in the accounts."""
        jobs = self._jobs.by_key([key])[key]
        return min((job.root for job in jobs), key=int, default=None)

    def poll(self, ids: Sequence[str]) -> Mapping[str, RunStatus]:
        """One squeue for all; one sacct for those that squeue has forgotten, where there are accounts."""
        found = self._jobs.of(ids)
        return {run_id: gather(run_id, found[run_id]) or RunStatus(BackendState.UNKNOWN) for run_id in ids}

    def pending(self, ids: Sequence[str]) -> dict[str, Pending]:
        """For each of `ids` that waits: why, in words, with the next step and the expected start."""
        found = self._jobs.of(ids)
        answers = {}
        for run_id in ids:
            waiting = [job for job in found[run_id] if job.state is BackendState.PENDING]
            if waiting:
                answers[run_id] = explain(waiting[0].reason, waiting[0].started_at)
        return answers

    def signal(self, run_id: str, signum: int) -> None:
        """Send a signal to the batch script alone. Nothing happens when the run has ended."""
        self._control.signal(self._id(run_id), signum)

    def cancel(self, run_id: str) -> None:
        """TERM, and KILL after the cluster's KillWait (Slurm sees to it). Nothing happens when it has ended."""
        self._control.cancel(self._id(run_id))

    def kill(self, run_id: str) -> None:
        """KILL at once, batch script and ranks."""
        self._control.kill(self._id(run_id))

    def nodes(self) -> list[BackendNode]:
        """The compute nodes, whatever their state; `describe_nodes` tells which are usable."""
        return [BackendNode(node.name, node.hostname, node.address) for node in self.describe_nodes()]

    def describe_nodes(self) -> list[SlurmNode]:
        """All that Slurm tells of its nodes."""
        return self._inventory.nodes()

    def partitions(self) -> list[Partition]:
        """The partitions."""
        return self._inventory.partitions()

    def reservations(self) -> list[Reservation]:
        """The reservations."""
        return self._inventory.reservations()

    def associations(self, users: Sequence[str] = ()) -> list[Association]:
        """Accounts and QOS of these users, or of all; nothing on a cluster without accounting."""
        found = self.cluster()
        return associations.ask(self._read, found.name, users) if found.accounting else []

    def qos(self) -> list[Qos]:
        """What each QOS allows; nothing on a cluster without accounting."""
        return qos.ask(self._read) if self.cluster().accounting else []

    def acts_as(self) -> str:
        """The name of the account, on the cluster, as whom jobs are submitted."""
        return self._write.ask(["id", "-un"]).strip()

    def cluster(self) -> Cluster:
        """Name, version and accounting of the cluster; asked again every ten minutes."""
        return self._jobs.cluster()

    def details(self, run_id: str) -> Job | None:
        """Everything `scontrol show job` tells, while Slurm remembers the job."""
        return newest(self._jobs.details(self._id(run_id)))

    def _submit(self, argv: list[str], script: str, options: SlurmOptions) -> str:
        try:
            return sbatch.parse_id(self._write.ask(argv, stdin=script))
        except RefusedError as error:
            raise RefusedError(sbatch.blamed(str(error), options)) from error

    def _with_parts(self, spec: RunSpec, options: SlurmOptions) -> SlurmOptions:
        """Whole nodes in place of parts where no scheduler would ever start those; asked only where it matters."""
        if not options.shared or is_even(spec.nodes) or self.cluster().starts_parts:
            return options
        return replace(options, shared=False)

    def _keep_one(self, key: str, mine: str) -> str:
        keep = self.find(key) or mine
        if keep != mine:
            log.warning("%s was submitted twice, as %s and %s; %s is cancelled", key, keep, mine, mine)
            self._control.cancel(mine)
        return keep

    def _id(self, run_id: str) -> str:
        """The job number: of an id itself, or looked up for a key."""
        number = run_id if is_id(run_id) else self.find(run_id)
        if number is None:
            raise BackendError(f"{self.name} has no job for the run {run_id}.")
        return number
