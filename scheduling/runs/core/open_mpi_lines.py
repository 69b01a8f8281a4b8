"""The lines of a batch script for Open MPI's launcher: which mpirun that is, and what it needs of Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

_NAME, _HOSTS = "mpirun", "-hosts"
#: What stands in the launcher's words in place of its name.
_FOUND = '"$open_mpi"'
#: Of the MPIs on one PATH another one may come first: its mpirun would start each rank as a world of its own. The name
#: stays as it is where the first is Open MPI's: with a path before it Open MPI sets search paths on all nodes.
_FIND = """\
# The first mpirun that is Open MPI's: on PATH another MPI's may come before it.
open_mpi=""
while IFS= read -r each; do
  case "$(readlink -f "$each")" in
    */orterun | */prterun | */mpirun.openmpi) ;;
    *) [[ "$(timeout 10 "$each" --version 2>&1 < /dev/null)" == *"Open MPI"* ]] || continue ;;
  esac
  open_mpi=$each
  break
done < <(type -aP mpirun mpirun.openmpi)
if [ -z "$open_mpi" ]; then echo "No mpirun on PATH is Open MPI's." >&2; fi
if [ -z "$open_mpi" ] || [ "$open_mpi" = "$(type -P mpirun)" ]; then open_mpi=mpirun; fi
"""
# Open MPI starts a daemon on each node with one srun, in Slurm's own order: the rank order must not reach that srun.
_SLURM = """\
unset SLURM_HOSTFILE SLURM_DISTRIBUTION
# Open MPI asks for this variable, which sbatch leaves out when the tasks are distributed arbitrarily.
if [ -n "${{SLURM_JOB_ID:-}}" ]; then
  export SLURM_TASKS_PER_NODE="${{SLURM_TASKS_PER_NODE:-{most}(x$SLURM_JOB_NUM_NODES)}}"
fi
{whole}
"""
#: For the srun of Open MPI's daemons, of which one starts all ranks of its node.
_WHOLE = """\
# That daemon has all that the job has on its node, for all ranks there.
unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_CPU_BIND
"""


def lines(launcher: Sequence[str], most: int, shares_nodes: bool) -> str:
    """Those before its launcher. `most`: the most ranks of a node; `shares_nodes`: whether the processors of a node are
    shared out."""
    return (_FIND if is_sought(launcher) else "") + _SLURM.format(most=most, whole=_WHOLE if shares_nodes else "")


def is_sought(launcher: Sequence[str]) -> bool:
    """Whether its words name an mpirun that is still to be found.

    >>> is_sought(("env", "A=1", "mpirun", "-n")), is_sought(("mpirun.openmpi",)), is_sought(("mpirun", "-hosts"))
    (True, False, False)
    """
    return _NAME in launcher and _HOSTS not in launcher


def quoted(rendered: Sequence[str]) -> str:
    """The launcher's words with their values, for the shell, with the mpirun that was found.

    >>> print(quoted(["mpirun", "-n", "2", "--hostfile", "/a b"]))
    "$open_mpi" -n 2 --hostfile '/a b'
    """
    shown = [shlex.quote(word) for word in rendered]
    shown[rendered.index(_NAME)] = _FOUND
    return " ".join(shown)
