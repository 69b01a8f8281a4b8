"""How a person's own program is started: the words before its arguments, by what kind of program it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from gridportal.base import run_files
from gridportal.base.errors import InputError
from scheduling.jobs.core.launcher import LAUNCHER, OPEN_MPI_LAUNCHER

#: Where an uploaded program lies when it runs.
UPLOADED = f"{{run_dir}}/{run_files.PROGRAM}"
MAX_BYTES = 900_000
_MOST_PATH = 1000
_SOURCES = {
    **dict.fromkeys((".c", ".h"), "C"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp"), "C++"),
    **dict.fromkeys((".f", ".for", ".f90", ".f95", ".f03", ".f08"), "Fortran"),
}
#: A line that no shell can run.
_PYTHON = re.compile(rb"^(import \w[\w., ]*|from [\w.]+ import .*)$", re.MULTILINE)


class ProgramKind(StrEnum):
    """What starts its ranks."""

    MPI = "mpi"
    PYTHON = "python"
    BATCH = "batch"

    @property
    def label(self) -> str:
        """For people."""
        return _LABELS[self]


_LABELS = {
    ProgramKind.MPI: "MPI program or script: one process for each rank",
    ProgramKind.PYTHON: "Python program with mpi4py: one process for each rank",
    ProgramKind.BATCH: "Batch script: runs once, and calls mpiexec or srun itself",
}
KIND_CHOICES = [(kind.value, kind.label) for kind in ProgramKind]
#: A batch script finds its nodes where mpiexec of MPICH, mpirun of Open MPI, and its own lines look for them.
_BATCH_LAUNCHER = (
    "env",
    "HYDRA_HOST_FILE={hostfile}",
    "OMPI_MCA_orte_default_hostfile={hostfile}",
    "SLURM_NTASKS={ranks}",
)
_BEFORE = {
    ProgramKind.MPI: (),
    ProgramKind.PYTHON: ("{python}", "-m", "mpi4py"),
    ProgramKind.BATCH: ("bash",),
}
#: The MPIs that a program may be built with: what is kept as `mpi`, and the launcher. No path among them: with the
#: compiler beside a launcher the portal itself builds things, and that must not be a user's file.
MPIS: dict[str, tuple[str, tuple[str, ...]]] = {
    "mpich": ("", ()),
    "openmpi": ("Open MPI", ()),
    "openmpi-debian": ("Open MPI 4.1", ("mpirun.openmpi", *OPEN_MPI_LAUNCHER[1:])),
    "mpich-debian": ("MPICH 4.0", ("mpiexec.mpich", "-n", "{ranks}", "-hosts", "{hosts}")),
}
MPI_LABELS = {
    "mpich": "MPICH, started by mpiexec",
    "openmpi": "Open MPI, started by mpirun",
    "openmpi-debian": "Open MPI of Debian, started by mpirun.openmpi",
    "mpich-debian": "MPICH of Debian, started by mpiexec.mpich",
}


def command(kind: ProgramKind, path: str, arguments: Sequence[str]) -> list[str]:
    """The command of a program at `path`, or of an uploaded one where that is empty.

    >>> command(ProgramKind.PYTHON, "", ["{size}"])
    ['{python}', '-m', 'mpi4py', '{run_dir}/program', '{size}']
    """
    return [*_BEFORE[kind], path or UPLOADED, *arguments]


def command_line_of(kind: ProgramKind, ranks: int) -> str:
    """What would be typed to start a program called "program" on so many ranks, with MPICH.

    >>> command_line_of(ProgramKind.PYTHON, 4), command_line_of(ProgramKind.BATCH, 4)
    ('mpiexec -n 4 python3 -m mpi4py program ARGUMENTS', 'bash program ARGUMENTS')
    """
    start = () if kind is ProgramKind.BATCH else (*LAUNCHER[:2], str(ranks))
    own = [word.replace("{python}", "python3") for word in command(kind, "program", ["ARGUMENTS"])]
    return " ".join((*start, *own))


def arguments_of(kind: ProgramKind, argv: Sequence[str]) -> list[str]:
    """What `command` was given.

    >>> arguments_of(ProgramKind.BATCH, ["bash", "/shared/run.sh", "a"])
    ['a']
    """
    return list(argv[len(_BEFORE[kind]) + 1 :])


def launcher_of(kind: ProgramKind, mpi: str) -> list[str]:
    """The launcher for one of MPIS. Raises InputError."""
    check_mpi(mpi)
    return list(_BATCH_LAUNCHER if kind is ProgramKind.BATCH else MPIS[mpi][1])


def check_mpi(mpi: object) -> str:
    """One of MPIS. Raises InputError."""
    if not isinstance(mpi, str) or mpi not in MPIS:
        raise InputError("mpi", mpi, f"one of {', '.join(MPIS)}")
    return mpi


def check_kind(kind: object) -> ProgramKind:
    """One of the kinds. Raises InputError."""
    if kind not in list(ProgramKind):
        raise InputError("kind", kind, f"one of {', '.join(ProgramKind)}")
    return ProgramKind(str(kind))


def check_path(path: object) -> str:
    """An absolute path of a program on the nodes. Raises InputError."""
    accepted = "the whole path of the program on the nodes, such as /shared/ann/solver"
    if not isinstance(path, str) or len(path) > _MOST_PATH or not path.isprintable() or set("{}") & set(path):
        raise InputError("path", path, accepted)
    if not path.startswith("/") or path.endswith("/") or ".." in PurePosixPath(path).parts:
        raise InputError("path", path, accepted)
    return path


def check_start(kind: ProgramKind, content: bytes, file_name: str = "") -> None:
    """Whether an uploaded program can be started so, by what it looks like. Raises InputError.

    >>> check_start(ProgramKind.MPI, b"from mpi4py import MPI", "ring.py")
    Traceback (most recent call last):
    gridportal.base.errors.InputError: kind is 'mpi'; accepted is python, for it looks like a program in Python.
    """
    suffix = PurePosixPath(file_name).suffix.lower()
    if suffix in _SOURCES or (content.startswith(b"#include") and not suffix):
        language = _SOURCES.get(suffix, "C")
        raise InputError(
            "content", file_name, f"what a compiler makes of it, such as mpicc: this is source in {language}"
        )
    if kind is not ProgramKind.MPI or content.startswith(b"\x7fELF"):
        return
    if re.search(rb"^#SBATCH\s", content, re.MULTILINE):
        raise InputError("kind", kind.value, "batch, for with its lines #SBATCH it would be started once for each rank")
    if not content.startswith(b"#!") and (suffix == ".py" or _PYTHON.search(content)):
        raise InputError("kind", kind.value, "python, for it looks like a program in Python")


def check_content(content: bytes) -> bytes:
    """An uploaded program. Raises InputError where it is empty or too large."""
    if not content:
        raise InputError("content", "", "a program that is not empty")
    if len(content) > MAX_BYTES:
        accepted = f"at most {MAX_BYTES} bytes; give the path of a larger one"
        raise InputError("content", f"{len(content)} bytes", accepted)
    return content
