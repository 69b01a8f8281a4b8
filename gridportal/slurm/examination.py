"""What an administrator wants to know of a Slurm before the first job: a few questions, each answered in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gridportal.base.errors import BackendError
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.versions import Cluster, parse_config

#: The commands that the portal uses, besides scontrol, which is asked first.
COMMANDS = ("sbatch", "squeue", "scancel", "sinfo")


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that was asked: whether it is well, and the words for it."""

    well: bool
    message: str


def examine(read: SlurmCommands, write: SlurmCommands | None = None) -> Iterator[Answer]:
    """Reachable, version, munge, accounts, nodes, and every command where it will run. `write` is the way of
    submissions, where it can be tried; nothing after the first question is asked when that has no answer."""
    try:
        output = read.ask(["scontrol", "show", "config"])
        cluster = parse_config(output)
    except BackendError as error:
        yield Answer(False, str(error))
        return
    yield _named(cluster)
    yield Answer(True, "munge answers" if "auth/munge" in output else "it authenticates without munge")
    yield _accounts(read, cluster)
    yield _nodes(read)
    for slurm in dict.fromkeys((read, write or read)):
        yield from _commands(slurm)


def _named(cluster: Cluster) -> Answer:
    version = "{}.{:02d}.{}".format(*cluster.version)
    return Answer(not cluster.warning, cluster.warning or f"Slurm {version} of {cluster.name or 'no name'} answers")


def _accounts(read: SlurmCommands, cluster: Cluster) -> Answer:
    if not cluster.accounting:
        return Answer(True, f"no accounts: Slurm forgets ended jobs after {cluster.min_job_age:g} s")
    try:
        read.ask(["sacct", "--noheader", "--allocations", "--starttime=now-1minute", "--format=JobID"])
    except BackendError as error:
        return Answer(False, str(error))
    return Answer(True, "sacct answers")


def _nodes(read: SlurmCommands) -> Answer:
    try:
        states = read.ask(["sinfo", "--noheader", "--Node", "--format=%N %t"]).splitlines()
    except BackendError as error:
        return Answer(False, str(error))
    names = {line.split()[0] for line in states if line.split()}
    return Answer(bool(names), f"{len(names)} nodes" if names else "it has no nodes")


def _commands(slurm: SlurmCommands) -> Iterator[Answer]:
    for command in COMMANDS:
        try:
            slurm.ask([command, "--version"])
        except BackendError as error:
            yield Answer(False, str(error))
