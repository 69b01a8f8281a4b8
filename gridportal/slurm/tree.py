"""The tree of switches as `scontrol show topology` tells it, where topology.conf is not at hand."""

from __future__ import annotations

import re

from gridportal.base.errors import BackendError, InputError, RefusedError
from gridportal.network.topology import Topology
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.topology_conf import parse


def ask(slurm: SlurmCommands, *, default_capacity: float, name: str) -> Topology | None:
    """The tree, or None on a cluster without one. Raises BackendError when Slurm does not answer."""
    try:
        output = slurm.ask(["scontrol", "show", "topology"])
    except RefusedError:
        return None
    text = as_conf(output)
    if not text:
        return None
    try:
        return parse(text, default_capacity=default_capacity, name=name)
    except InputError as error:
        raise BackendError(f"scontrol show topology gave an answer that cannot be read: {error}") from error


def as_conf(output: str) -> str:
    """The lines as topology.conf has them: without levels, without the nodes that lower switches list already, and
    without LinkSpeed=1, which is Slurm's word for a speed that nobody gave.

    >>> as_conf("SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=s[0-1]")
    'SwitchName=top Switches=s[0-1]'
    """
    lines = []
    for raw in output.splitlines():
        if not raw.startswith("SwitchName="):
            continue
        line = re.sub(r"\s(Level=\d+|LinkSpeed=1(?!\S))", "", raw.strip())
        line = re.sub(r"\s\w+=(\(null\))?(?=\s|$)", "", line)
        lines.append(re.sub(r"\sNodes=\S+", "", line) if " Switches=" in line else line)
    return "\n".join(lines)
