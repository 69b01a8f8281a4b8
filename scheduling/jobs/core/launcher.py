"""How an application is started: the words before its command, and the modules to load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from gridportal.base.errors import InputError

#: What the names of the programs begin with by which MPIs start ranks, as in mpirun.openmpi.
STARTERS = ("mpirun", "mpiexec", "orterun", "prterun")
LAUNCHER = ("mpiexec", "-n", "{ranks}", "-hosts", "{hosts}")
#: Open MPI keeps to the order of the nodes when it maps rank by rank (seq); by default Slurm's order wins.
OPEN_MPI_LAUNCHER = ("mpirun", "-n", "{ranks}", "--map-by", "seq", "--hostfile", "{hostfile}")
#: What a launcher's words may name: the number of ranks, the nodes with commas, a file with a node on each line.
IN_LAUNCHER = ("ranks", "hosts", "hostfile", "run_dir")
#: MPIs that programs are built with, as they are called without spaces; Cray's has MPICH in its name.
_MPIS = (
    *("openmpi", "mpich", "mvapich", "intelmpi", "parastation", "spectrummpi", "hpempi", "hpempt", "fujitsumpi"),
    "bullxmpi",
)
_MODULE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]{0,119}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def usual_launcher(mpi: str) -> tuple[str, ...]:
    """How a program is started that names no launcher: with its own MPI's.

    >>> usual_launcher("Open MPI 4.1")[0], usual_launcher("")[0]
    ('mpirun', 'mpiexec')
    """
    return OPEN_MPI_LAUNCHER if is_open_mpi(mpi) else LAUNCHER


def is_given_nodes(launcher: Sequence[str]) -> bool:
    """Whether a launcher is told the nodes, by a list or a file, and does not ask the cluster for them.

    >>> is_given_nodes(LAUNCHER), is_given_nodes(("srun", "-n", "{ranks}")), is_given_nodes(("env", "H={hostfile}"))
    (True, False, False)
    """
    starts = any(PurePath(word).name.startswith(STARTERS) for word in launcher)
    return starts and any("{hosts}" in word or "{hostfile}" in word for word in launcher)


def is_open_mpi(mpi: str) -> bool:
    """Whether what is said of a program's MPI means Open MPI.

    >>> is_open_mpi("Open MPI 4.1"), is_open_mpi("openmpi"), is_open_mpi("MPICH 4")
    (True, True, False)
    """
    return _run_together(mpi).startswith("openmpi")


def check_launcher(argv: object) -> tuple[str, ...]:
    """A launcher's words. Raises InputError when they are none, or name what a launcher cannot know."""
    if not isinstance(argv, list | tuple) or not all(isinstance(w, str) and w and w.isprintable() for w in argv):
        raise InputError("launcher", argv, "a list of printable words, such as " + " ".join(LAUNCHER))
    for name in (name for word in argv for name in _PLACEHOLDER.findall(word)):
        if name not in IN_LAUNCHER:
            raise InputError("launcher", "{" + name + "}", "one of " + ", ".join(IN_LAUNCHER) + " in braces")
    return tuple(argv)


def check_mpi(mpi: object) -> str:
    """What is said of the MPI that a program is built with; empty for nothing. Raises InputError for an unknown one.

    >>> check_mpi("Open MPI 4.1"), check_mpi("Intel MPI 2021"), check_mpi("")
    ('Open MPI 4.1', 'Intel MPI 2021', '')
    """
    if not isinstance(mpi, str) or (mpi and not mpis_named(mpi)):
        raise InputError("mpi", mpi, "the name of an MPI, such as MPICH 4.2, Open MPI 4.1 or Intel MPI 2021")
    return mpi


def mpis_named(text: str) -> frozenset[str]:
    """The MPIs that a text names, whatever their versions.

    >>> sorted(mpis_named("MPICH 4.2, Open MPI 4.1")), mpis_named("gcc")
    (['mpich', 'openmpi'], frozenset())
    """
    together = _run_together(text)
    return frozenset(name for name in _MPIS if name in together)


def _run_together(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "")


def check_modules(names: object) -> tuple[str, ...]:
    """Names of environment modules. Raises InputError."""
    if not isinstance(names, list | tuple):
        raise InputError("modules", names, "a list of names, such as gcc/12.2")
    for name in names:
        if not isinstance(name, str) or not _MODULE.fullmatch(name):
            raise InputError("modules", name, "a name such as gcc/12.2")
    return tuple(names)
