"""What is tried, with which MPI, on which backend; the table of docs/applications.md is made from this.

After a change `python -m tests.applications.cases` prints the table. A test compares: a case without its row fails, and
so does a row without a case.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

BESIDE = Path(sys.executable).parent
OPEN_MPI = ("mpirun.openmpi", "-n", "{ranks}", "--map-by", "seq", "--hostfile", "{hostfile}")
MPICH = (str(BESIDE / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}")
DEBIANS_MPICH = ("mpiexec.mpich", *MPICH[1:])
#: A script before the launcher of Open MPI, as in docs/applications/wrapper.
WRAPPER = ("sh", "/opt/gridportal/applications/wrapper", "{ranks}", "{hostfile}")
#: A file system of its own for each rank, made without root of what there is: the mechanics of Apptainer.
BUBBLE = (
    "bwrap",
    "--ro-bind",
    "/",
    "/",
    "--dev-bind",
    "/dev",
    "/dev",
    "--bind",
    "/tmp",
    "/tmp",
    "--bind",
    "{run_dir}",
    "{run_dir}",
)
#: Jobs of the emulated Grid cannot make containers.
ON_SLURM = (BUBBLE, ("slurm",))
BACKENDS = {"grid": "emulated Grid", "slurm": "Slurm"}

WINDOWS = tuple(f"one-sided, {each} window" for each in ("created", "allocated", "dynamic", "shared"))
_C = ("ring", *WINDOWS, "threads", "MPI-IO")
_FORTRAN = ("ring", "one-sided, created window", "one-sided, lock", "MPI-IO")


@dataclass(frozen=True, slots=True)
class Case:
    """A program that is compiled with `compiler` from `source`, or of Python where there is none, and must say that it
    did each of `kinds`. `mpi`: what its registration says; `container`: the words before it. `repeats`: whether others
    show what it shows, each a part of it."""

    what: str
    with_mpi: str
    kinds: tuple[str, ...]
    launcher: tuple[str, ...]
    mpi: str
    source: str = ""
    compiler: str = ""
    container: tuple[str, ...] = ()
    backends: tuple[str, ...] = tuple(BACKENDS)
    repeats: bool = False


CASES = (
    Case("C", "the portal's MPICH 5.0", _C, MPICH, "MPICH 5", "ring.c", str(BESIDE / "mpicc")),
    Case("C", "Debian's MPICH 4.0", _C, DEBIANS_MPICH, "", "ring.c", "mpicc.mpich", repeats=True),
    Case("C", "Open MPI 4.1", _C, OPEN_MPI, "Open MPI", "ring.c", "mpicc.openmpi"),
    Case("Fortran", "Debian's MPICH 4.0", _FORTRAN, DEBIANS_MPICH, "MPICH 4.0", "ring.f90", "mpifort.mpich"),
    Case("Fortran", "Open MPI 4.1", _FORTRAN, OPEN_MPI, "Open MPI", "ring.f90", "mpif90.openmpi"),
    Case("C in a wrapper", "Open MPI 4.1", _C, WRAPPER, "Open MPI", "ring.c", "mpicc.openmpi"),
    Case(
        "C in a container",
        "the portal's MPICH 5.0",
        _C,
        MPICH,
        "MPICH 5",
        "ring.c",
        str(BESIDE / "mpicc"),
        BUBBLE,
        ("slurm",),
    ),
    Case(
        "C in a container",
        "Open MPI 4.1",
        _C,
        OPEN_MPI,
        "Open MPI",
        "ring.c",
        "mpicc.openmpi",
        BUBBLE,
        ("slurm",),
        repeats=True,
    ),
    Case(
        "Python (mpi4py)",
        "the portal's MPICH 5.0",
        ("ring", WINDOWS[0], "MPI-IO"),
        (),
        "MPICH 5",
        "ring.py",
        repeats=True,
    ),
)


def _places(case: Case) -> str:
    return " and ".join(BACKENDS[name] for name in case.backends)


def table() -> str:
    """The table in Markdown."""
    rows = [f"| {each.what} | {each.with_mpi} | {'; '.join(each.kinds)} | {_places(each)} |" for each in CASES]
    head = ["| program | MPI | what it does | tried on |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
