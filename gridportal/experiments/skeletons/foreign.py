"""Programs that are not the project's own: packages of Debian, and those of the folder `programs`, built here.

Each is linked with the MPI that is said beside it. Its seconds are those that it prints; ours from after MPI_Init to
the end of the check: what a start takes is in none of them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, ImpossibleError, ShellError
from gridportal.experiments.grid_programs import Executable, Mpi

SOURCES = Path(__file__).parent / "programs"
_BUILDING = 120.0


class Language(StrEnum):
    """What a program is written in."""

    C = "C"
    CPP = "C++"
    FORTRAN = "Fortran"


@dataclass(frozen=True, slots=True)
class Source:
    """A program of the folder `programs`, by its name, and how it is called."""

    name: str
    mpi: Mpi
    language: Language
    arguments: tuple[int, ...]

    def made(self, folder: Path) -> Executable:
        """The program, built in `folder`. Raises ImpossibleError where a compiler is missing, BackendError for
        its errors."""
        output = folder / self.name
        folder.mkdir(parents=True, exist_ok=True)
        file = SOURCES / f"{self.name}{'.f90' if self.language is Language.FORTRAN else '.c'}"
        compiler, libraries = _compiler(self.mpi, self.language, folder)
        try:
            shell.run([*compiler, "-O2", "-o", str(output), str(file), *libraries], timeout=_BUILDING)
        except ShellError as error:
            raise BackendError(f"{file.name} could not be built with {compiler[0]}: {error}") from error
        return Executable(self.name, self.mpi, (str(output), *map(str, self.arguments)))


@dataclass(frozen=True, slots=True)
class Packaged:
    """A program of a package of Debian; the other fields are those of Executable."""

    name: str
    mpi: Mpi
    language: Language
    package: str
    command: tuple[str, ...]
    seconds: re.Pattern[str]
    verified: re.Pattern[str]
    files: Mapping[str, str] = field(default_factory=dict)

    def made(self, folder: Path) -> Executable:
        """The program where it is installed. Raises ImpossibleError where it is not."""
        if shutil.which(self.command[0]) is None:
            raise ImpossibleError(f"{self.command[0]} is not installed here (Debian's package {self.package}).")
        return Executable(self.name, self.mpi, self.command, self.seconds, self.verified, self.files)


Foreign = Source | Packaged


def _compiler(mpi: Mpi, language: Language, folder: Path) -> tuple[list[str], list[str]]:
    """The compiler's words before a source, and the libraries after it. Raises ImpossibleError where there is none."""
    if language is not Language.FORTRAN:
        return [_installed(mpi.mpicc)], ["-lm"]
    if mpi is Mpi.OPEN_MPI:
        return [_installed("mpifort.openmpi")], []
    return _mpich_fortran(folder)


def _mpich_fortran(folder: Path) -> tuple[list[str], list[str]]:
    """Debian's Fortran interface of MPICH over the portal's library, which has none.

    All MPICH from 3.1 on have the same binary interface. Debian's own library calls itself libmpich, so the portal's
    gets a link of that name, and the program finds it first.
    """
    interface = shell.run([_installed("mpifort.mpich"), "-show"], timeout=30.0).stdout.split()
    library = next(Path(word[2:]) for word in _shown(Mpi.MPICH.mpicc) if word.startswith("-L"))
    link = folder / "libmpich.so.12"
    link.unlink(missing_ok=True)
    link.symlink_to(library / "libmpi.so.12")
    flags = [word for word in interface if word.startswith(("-I", "-f"))]
    paths = f"-Wl,--disable-new-dtags,-rpath,{folder},-rpath,{library},--allow-shlib-undefined"
    return [interface[0], *flags], ["-lmpichfort", paths, f"-L{library}", "-l:libmpi.so.12"]


def _shown(mpicc: str) -> list[str]:
    return shell.run([mpicc, "-show"], timeout=30.0).stdout.split()


def _installed(program: str) -> str:
    if shutil.which(program) is None:
        raise ImpossibleError(f"{program} is not installed here.")
    return program


_LAMMPS = """\
units           lj
atom_style      atomic
lattice         fcc 0.8442
region          box block 0 {cells} 0 {cells} 0 {cells}
create_box      1 box
create_atoms    1 box
mass            1 1.0
velocity        all create 1.44 87287 loop geom
pair_style      lj/cut 2.5
pair_coeff      1 1 1.0 1.0 2.5
neighbor        0.3 bin
neigh_modify    delay 0 every 10 check no
fix             1 all nve
thermo          100
run             {steps}
"""


def _lammps(cells: int, steps: int) -> Packaged:
    """A melting crystal. Its seconds are those of its steps; what comes before them, which is traced too, is short."""
    return Packaged(
        "lammps",
        Mpi.OPEN_MPI,
        Language.CPP,
        "lammps",
        ("lmp", "-in", "in.melt", "-log", "none"),
        re.compile(r"^Loop time of ([\d.]+) on", re.MULTILINE),
        re.compile(rf"^Loop time of .* for {steps} steps", re.MULTILINE),
        {"in.melt": _LAMMPS.format(cells=cells, steps=steps)},
    )


def programs(*, full: bool) -> tuple[Foreign, ...]:
    """About ten seconds each on a quiet crossbar of 100 Mbit/s; `full` are longer."""
    times = 4 if full else 1
    mpich, open_mpi = Mpi.MPICH, Mpi.OPEN_MPI
    return (
        Source("transpose", open_mpi, Language.FORTRAN, (2048, 56 * times)),
        Source("halo", open_mpi, Language.FORTRAN, (512, 20, 300 * times)),
        Source("wavefront", mpich, Language.FORTRAN, (400, 40, 32, 280 * times)),
        Source("taskfarm", open_mpi, Language.FORTRAN, (1000 * times, 2000, 12000)),
        Source("conjugate", open_mpi, Language.C, (512, 128, 60, 170 * times)),
        Source("samplesort", mpich, Language.C, (300000, 60 * times)),
        Source("particles", open_mpi, Language.C, (400, 16, 4500 * times)),
        Source("multigrid", open_mpi, Language.C, (1024, 640 * times)),
        Source("flame", mpich, Language.C, (8000, 1000, 5000, 4000, 400 * times)),
        Source("stream", mpich, Language.C, (2000000, 32768, 320 * times)),
        _lammps(20, 280 * times),
    )
