"""The task prolog: what a Grid's Slurm tells every job, so that MPI keeps to the shaped links as on the plain Grid."""

from __future__ import annotations

import shlex
from collections.abc import Mapping


def task_prolog(programs: str, variables: Mapping[str, str], launcher: Mapping[str, str]) -> str:
    """The script; Slurm takes what it prints as `export NAME=VALUE` into the environment of each task and batch script.

    `programs` is the folder of mpiexec and python, first on PATH unless a job has it there already. `launcher`, which
    enters a node's namespaces, works for root alone; others get mpiexec's own, which is srun.
    """
    lines = [
        "#!/bin/sh",
        f"programs={shlex.quote(programs)}",
        'case ":$PATH:" in',
        '*":$programs:"*) ;;',
        '*) echo "export PATH=$programs:$PATH" ;;',
        "esac",
        'echo "export GRIDPORTAL_NODE=$SLURMD_NODENAME"',
        *(_export(name, value) for name, value in variables.items()),
        '[ "$(id -u)" = 0 ] || exit 0',
        *(_export(name, value) for name, value in launcher.items()),
    ]
    return "\n".join(lines) + "\n"


def _export(name: str, value: str) -> str:
    return f"echo {shlex.quote(f'export {name}={value}')}"
