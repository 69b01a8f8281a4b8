"""Until when nodes are busy: the end of each running job, from its start and time limit, in one squeue for all."""

from __future__ import annotations

from gridportal.network.importers.hostlist import expand
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.values import when

_ARGV = ("squeue", "--all", "--noheader", "--states=RUNNING,COMPLETING,SUSPENDED", "--format=%e %N")


def busy_until(slurm: SlurmCommands) -> dict[str, float | None]:
    """For each node that runs a job: Unix seconds until the last of its jobs must have ended, None without a limit.

    Raises BackendError; InputError for a list of nodes that cannot be read.
    """
    return parse(slurm.ask(_ARGV))


def parse(output: str) -> dict[str, float | None]:
    """
    >>> parse("1795203600 n[1-2]\\nN/A n2\\n1795200000 n1\\n")
    {'n1': 1795203600.0, 'n2': None}
    """
    until: dict[str, float | None] = {}
    for line in output.splitlines():
        ends, _, nodes = line.strip().partition(" ")
        for node in expand(nodes.strip()):
            until[node] = _later(until.get(node, 0.0), when(ends))
    return until


def _later(known: float | None, found: float | None) -> float | None:
    return None if known is None or found is None else max(known, found)
