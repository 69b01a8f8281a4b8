"""Where a Grid's Slurm keeps its files, what must be installed for it, and the way in for its clients."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, ShellError
from gridportal.testbed import kernel, machine
from gridportal.testbed.slurm.config import HOME
from gridportal.testbed.state import State

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "srun")
_ACCOUNTING = ("slurmdbd", "sacct", "sacctmgr", "mariadbd", "mariadb-install-db")


def folder(state: State) -> Path:
    """Slurm's folder in the state directory; inside the Grid it is seen at /etc/slurm."""
    return state.root / "slurm"


def way_in(state: State) -> Path:
    """The script that runs a command where slurmctld is."""
    return folder(state) / "enter"


def prepare(state: State, pid: int) -> None:
    """Write the way into the Grid whose outermost process is `pid`."""
    folder(state).mkdir(mode=0o755, parents=True, exist_ok=True)
    text = (Path(__file__).parent / "enter.sh").read_text(encoding="utf-8")
    text = text.replace("@PID@", str(pid)).replace("@START@", str(kernel.start_time(pid)))
    way_in(state).write_text(text, encoding="utf-8")
    way_in(state).chmod(0o755)


def sinfo(prefix: Sequence[str]) -> list[str]:
    """What Slurm itself says of its partitions and nodes, or why it says nothing."""
    try:
        return shell.run([*prefix, "sinfo"], timeout=10).stdout.splitlines()
    except ShellError as error:
        return [str(error)]


def remove(state: State) -> None:
    """Remove what an earlier Slurm has left."""
    shutil.rmtree(folder(state), ignore_errors=True)


def check(mode: str, *, accounting: bool) -> None:
    """BackendError in one sentence where no Slurm can be had."""
    if os.geteuid() != 0 or mode != "root":
        raise BackendError("A Slurm on the Grid can be started by root only, where namespaces are permitted.")
    absent = missing(accounting=accounting)
    if absent:
        packages = "slurm-wlm munge" + (" slurmdbd mariadb-server" if accounting else "")
        raise BackendError(f"{', '.join(absent)} not installed; apt-get install {packages}.")
    if not Path(HOME).is_dir():
        raise BackendError(f"{HOME} is not there to mount Slurm's files on; make it: mkdir {HOME}.")


def missing(*, accounting: bool) -> list[str]:
    """The programs that are not here."""
    wanted = (*_PROGRAMS, *(_ACCOUNTING if accounting else ()))
    return [name for name in wanted if shutil.which(name, path=machine.tool_path()) is None]
