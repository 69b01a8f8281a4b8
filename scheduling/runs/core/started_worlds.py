"""Whether the processes of a run were the ranks of one MPI world, by the worlds that they have noted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.core.launcher import STARTERS
from scheduling.jobs.core.linked_mpi import MPICH, OPEN_MPI, is_started_by_another, launcher_mpi, launcher_name

_VERSION = re.compile(r"(Open MPI) v(\d+(?:\.\d+)*)|(MPICH) Version:\s*(\d+(?:\.\d+)*)")
_NO_MANAGER = (
    ("OMPI was not built with SLURM's PMI support", OPEN_MPI),
    ("Runtime environment uses unsupported PMI version", MPICH),
)
_NOT_LAUNCHED = re.compile(r"srun: error: (task \d+ launch failed: |cannot find mpi plugin for )")
#: What a launcher that is no MPI's own is called.
_LAUNCHER = "its launcher"


@dataclass(frozen=True, slots=True)
class World:
    """One that began in a process which the launcher had started: its size, whose variables that process had, and its
    MPI with the version. The size is 0 where the process has ended and never called MPI."""

    size: int
    started_by: str
    mpi: str

    @classmethod
    def read(cls, line: str) -> World | None:
        """From what the library wrote; None for anything else.

        >>> World.read("1 openmpi MPICH Version:\\t4.0.2"), World.read("x")
        (World(size=1, started_by='openmpi', mpi='MPICH 4.0.2'), None)
        """
        size, _, rest = line.partition(" ")
        by, _, version = rest.partition(" ")
        if not (size.isascii() and size.isdigit() and len(size) < 10):
            return None
        found = _VERSION.search(version)
        name = " ".join(part for part in found.groups() if part) if found else ""
        return cls(int(size), by, name)


def verdict(worlds: Sequence[World], ranks: int, launcher: Sequence[str]) -> Reason:
    """What is odd about how `ranks` processes were started; NOTHING unless each began a world of its own, or none.

    `worlds`: the first one of each process that was rank 0. Ranks of one world leave one. More processes than the job
    has ranks may have been started: where all of them were alone, that is certain too.

    >>> verdict([World(1, "openmpi", "MPICH 4.0.2")] * 4, 4, ("mpirun",)).facts
    {'ranks': 4, 'mpi': 'MPICH 4.0.2', 'launcher': "Open MPI's mpirun"}
    >>> verdict([World(4, "pmi", "MPICH 4.0.2")], 4, ("mpiexec",)) == NOTHING
    True
    >>> verdict([World(0, "other", "")] * 4, 4, ("srun",)).code.value
    'start_no_mpi'
    """
    count = len(worlds)
    if ranks < 2 or count < ranks:
        return NOTHING
    sizes = {world.size for world in worlds}
    if sizes == {0}:
        return Reason.of(Code.START_NO_MPI, ranks=count)
    if sizes == {1}:
        by = launcher_text(launcher, _seen_launcher(worlds[0], launcher))
        return Reason.of(Code.START_SINGLETONS, ranks=count, mpi=worlds[0].mpi, launcher=by)
    if count == ranks and not sizes & {0, 1}:  # their variables are those of what they called themselves
        return Reason.of(Code.START_COPIES, ranks=ranks, found=max(sizes), launcher=launcher_text(launcher))
    return NOTHING


def fewer(worlds: Iterable[World], ranks: int, launcher: Sequence[str]) -> Reason:
    """That all worlds which were seen have together fewer than `ranks` ranks; NOTHING where none was seen.

    Others may have begun unseen: a process leaves only the first world in which it was rank 0.

    >>> fewer([World(1, "pmi", "MPICH 4.0.2")], 4, ("wrap",)).facts
    {'ranks': 4, 'found': 1, 'runs': 1, 'launcher': 'its launcher'}
    >>> fewer([World(0, "other", "")], 4, ("wrap",)) == fewer([World(1, "pmi", "")] * 4, 4, ("wrap",)) == NOTHING
    True
    """
    sizes = [world.size for world in worlds if world.size]
    if not 0 < sum(sizes) < ranks:
        return NOTHING
    facts = {"ranks": ranks, "found": sum(sizes), "runs": len(sizes)}
    return Reason.of(Code.START_FEWER, **facts, launcher=launcher_text(launcher))


def _seen_launcher(world: World, launcher: Sequence[str]) -> str:
    """The MPI whose launcher's variables the first process had; empty where they may be srun's too."""
    if world.started_by == "openmpi":
        return OPEN_MPI
    return MPICH if world.started_by == "pmi" and launcher_name(launcher).startswith(STARTERS) else ""


def hint(mpi: str, ranks: int, launcher: Sequence[str]) -> Reason:
    """The same by the file alone, of a program that is linked with `mpi`; NOTHING where that fits, or is unknown."""
    if ranks < 2 or not is_started_by_another(mpi, launcher):
        return NOTHING
    return Reason.of(Code.START_OTHER_MPI, ranks=ranks, mpi=mpi, launcher=launcher_text(launcher))


def script_hint(inside: str, ranks: int, launcher: Sequence[str]) -> Reason:
    """The same of a script that calls `inside` itself; NOTHING where it calls none, or is started once."""
    if ranks < 2 or not inside or not launcher_name(launcher):
        return NOTHING
    return Reason.of(Code.START_INSIDE, ranks=ranks, inside=inside, launcher=launcher_text(launcher))


def no_process_manager(lines: Iterable[str], launcher: Sequence[str]) -> Reason:
    """What an MPI wrote that did not find what it needs of its launcher to find its other ranks; NOTHING for none.

    >>> no_process_manager(["OMPI was not built with SLURM's PMI support"], ("srun",)).facts
    {'mpi': 'Open MPI', 'launcher': 'srun'}
    """
    for line in lines:
        for text, mpi in _NO_MANAGER:
            if text in line:
                return Reason.of(Code.START_NO_PMI, mpi=mpi, launcher=launcher_text(launcher))
    return NOTHING


def none_started(lines: Iterable[str], launcher: Sequence[str]) -> Reason:
    """That srun could start none of the ranks, of which its exit code may say nothing; NOTHING where it did.

    >>> none_started(["srun: error: task 3 launch failed: Unspecified error"], ("srun",)).code.value
    'start_none'
    """
    is_srun = launcher_name(launcher).startswith("srun")
    failed = is_srun and any(_NOT_LAUNCHED.match(line) for line in lines)
    return Reason.of(Code.START_NONE, launcher=launcher_text(launcher)) if failed else NOTHING


def launcher_text(launcher: Sequence[str], mpi: str = "") -> str:
    """A launcher with its MPI as far as that is known.

    >>> launcher_text(("mpiexec", "-hosts", "{hosts}")), launcher_text(("srun",)), launcher_text(("wrap",))
    ("MPICH's mpiexec", 'srun', 'its launcher')
    """
    name = launcher_name(launcher)
    known = mpi or launcher_mpi(launcher)
    if known in (OPEN_MPI, MPICH) and name and name != "srun":
        return f"{known}'s {name}"
    return name or _LAUNCHER
