"""Finding jobs by id or key: squeue first, then the accounts, each asked once however many are wanted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gridportal.slurm import job_json, job_text
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.inventory import Answers, document
from gridportal.slurm.jobs import Job, is_id
from gridportal.slurm.submit import job_name
from gridportal.slurm.versions import Cluster, parse_config

_CLUSTER_KEPT = 600.0
#: Beyond this many, asking for all jobs is shorter than naming each.
_NAMED = 4000


@dataclass
class Lookup:
    """What is known of jobs; the cluster's own description is kept for ten minutes."""

    slurm: SlurmCommands
    clock: Callable[[], float]
    answers: Answers = "text"
    _cluster: Cluster | None = field(default=None, init=False)
    _cluster_at: float = field(default=0.0, init=False)

    def of(self, wanted: Sequence[str]) -> dict[str, list[Job]]:
        """The jobs of each id or key."""
        ids, keys = [word for word in wanted if is_id(word)], [word for word in wanted if not is_id(word)]
        return (self.by_id(ids) if ids else {}) | (self.by_key(keys) if keys else {})

    def by_id(self, ids: Sequence[str]) -> dict[str, list[Job]]:
        """The jobs, array tasks or parts of each id."""
        found = _group(self._squeue(ids=ids), _numbers, ids)
        missing = [run_id for run_id in ids if not found[run_id]]
        if missing and self.cluster().accounting:
            found |= _group(self._sacct(ids=missing), _numbers, missing)
        return found

    def by_key(self, keys: Sequence[str]) -> dict[str, list[Job]]:
        """The jobs that were submitted under each key: by name, and by comment where there is one."""
        found = _group(self._squeue(names=[job_name(key) for key in keys]), _keyed(keys), keys)
        missing = [key for key in keys if not found[key]]
        if missing and self.cluster().accounting:
            names = [job_name(key) for key in missing]
            found |= _group(self._sacct(names=names), _keyed(missing), missing)
        return found

    def attempts(self, job_id: str) -> list[Job]:
        """Every attempt of a job that was put back, as the accounts keep them."""
        return job_text.parse_sacct(self.slurm.ask([*job_text.sacct_argv(ids=[job_id]), "--duplicates"]))

    def details(self, job_id: str) -> list[Job]:
        """What `scontrol show job` tells; nothing once Slurm has forgotten the job."""
        argv = ["scontrol", "--oneliner", "show", "job", job_id]
        done = self.slurm.run(argv)
        if done.returncode != 0 and "invalid job id" in done.stderr.lower():
            return []
        if done.returncode != 0:
            raise self.slurm.failure(argv, done)
        return job_text.parse_scontrol(done.stdout)

    def cluster(self) -> Cluster:
        """The cluster's description."""
        if self._cluster is None or self.clock() - self._cluster_at > _CLUSTER_KEPT:
            self._cluster = parse_config(self.slurm.ask(["scontrol", "show", "config"]))
            self._cluster_at = self.clock()
        return self._cluster

    def _squeue(self, ids: Sequence[str] = (), names: Sequence[str] = ()) -> list[Job]:
        if self.answers == "json":
            argv = ["squeue", "--all", "--states=all", "--json"]
            return job_json.decode(document(self.slurm.ask(argv), "squeue --json"), "squeue --json")
        argv = job_text.squeue_argv(ids if len(ids) <= _NAMED else (), names if len(names) <= _NAMED else ())
        done = self.slurm.run(argv)
        # A single id that Slurm has forgotten is an error to squeue; several are just left out.
        if done.returncode != 0 and "invalid job id specified" in done.stderr.lower():
            return []
        if done.returncode != 0:
            raise self.slurm.failure(argv, done)
        return job_text.parse_squeue(done.stdout)

    def _sacct(self, ids: Sequence[str] = (), names: Sequence[str] = ()) -> list[Job]:
        jobs: list[Job] = []
        wanted = ids or names
        for at in range(0, len(wanted), _NAMED):
            part = wanted[at : at + _NAMED]
            argv = job_text.sacct_argv(ids=part) if ids else job_text.sacct_argv(names=part)
            jobs += job_text.parse_sacct(self.slurm.ask(argv))
        return jobs


def _numbers(job: Job) -> list[str]:
    return [job.id] if job.id == job.root else [job.id, job.root]


def _keyed(keys: Sequence[str]) -> Callable[[Job], list[str]]:
    names = {job_name(key): key for key in keys}

    def of(job: Job) -> list[str]:
        key = names.get(job.name)
        return [key] if key is not None and job.comment in ("", key) else []

    return of


def _group(jobs: Sequence[Job], names_of: Callable[[Job], list[str]], wanted: Sequence[str]) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        for word in names_of(job):
            found[word].append(job)
    return {word: found[word] for word in wanted}
