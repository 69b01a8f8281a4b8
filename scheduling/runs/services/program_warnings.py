"""What speaks against a program before it has run, by what is said of it and by its file. Nothing is refused for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from gridportal.base.clusters import Cluster
from gridportal.base.reasons import Code, Reason
from monitoring.clusters import selectors
from scheduling.jobs.core import launcher
from scheduling.jobs.core.linked_mpi import (
    MPICH,
    is_of_debians_mpich,
    is_started_by_another,
    launcher_mpi,
    launcher_name,
    linked_mpi,
    started_inside,
)
from scheduling.jobs.core.program_start import ProgramKind
from scheduling.jobs.models import Application
from scheduling.jobs.services import program_clusters
from scheduling.runs.adapters import finalizer, mpi_build
from scheduling.runs.core import started_worlds
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import program_file
from scheduling.runs.services.program_file import Presence
from scheduling.runs.services.program_place import has_private_folders, private_folder

_PYTHON = "{python}"


def program_warnings(application: Application) -> list[Reason]:
    """All of them, what keeps it from starting first; none of a program that comes with the portal."""
    if _comes_with_portal(application):
        return []
    return [*file_warnings(application), *_of_its_runs(application)]


def file_warnings(application: Application) -> list[Reason]:
    """Those that its file and its place tell, whatever its runs did."""
    if _comes_with_portal(application):
        return []
    words = application.launcher or launcher.usual_launcher(application.mpi)
    return [*_of_its_place(application), *start_warnings(application, words)]


def start_warnings(application: Application, argv: Sequence[str]) -> list[Reason]:
    """What its file tells against being started by the launcher `argv`."""
    return list(_of_its_start(application, argv))


def _comes_with_portal(application: Application) -> bool:
    return _PYTHON in application.command and program_file.own_program(application) is None


def _of_its_place(application: Application) -> Iterator[Reason]:
    path = program_file.program_path(application)
    clusters = _clusters(application) if path else []
    folder = private_folder(path)
    private = [cluster.name for cluster in clusters if folder and has_private_folders(cluster)]
    if private:
        yield Reason.of(Code.PROGRAM_NOT_SHARED, program=path, folder=folder, clusters=private)
    shared = [cluster.name for cluster in clusters if cluster.name not in private]
    if not shared:
        return
    found = program_file.presence(path)
    if found == Presence.MISSING:
        yield Reason.of(Code.PROGRAM_NOT_SEEN, program=path, clusters=shared)
    elif found == Presence.NOT_EXECUTABLE and _kind(application) == ProgramKind.MPI:
        yield Reason.of(Code.PROGRAM_NOT_EXECUTABLE, program=path)


def _of_its_start(application: Application, words: Sequence[str]) -> Iterator[Reason]:
    content = program_file.content(application) if _kind(application) == ProgramKind.MPI else b""
    mpi = linked_mpi(content)
    is_own = application.owner_id is not None
    if launcher_name(words) and (inside := started_inside(content)):
        yield Reason.of(Code.STARTS_RANKS_ITSELF, launcher=inside, is_own=is_own)
    elif is_started_by_another(mpi, words):
        yield Reason.of(Code.LINKED_OTHERWISE, mpi=mpi, launcher=started_worlds.launcher_text(words))
    elif is_of_debians_mpich(content) and _is_portals(application, words):
        yield Reason.of(Code.DEBIANS_MPICH, launcher=launcher_name(words))


def _of_its_runs(application: Application) -> Iterator[Reason]:
    if not _has_ended_well(application):
        runs = Run.objects.filter(job__application=application).count()
        yield Reason.of(Code.NEVER_TRIED, runs=runs, is_own=application.owner_id is not None)


def _is_portals(application: Application, words: Sequence[str]) -> bool:
    """Whether these words call the mpiexec of the portal's own MPICH, and nobody says that it needs Debian's."""
    name = launcher_name(words)
    if launcher_mpi(words) != MPICH or name not in words or finalizer.is_needed(application.mpi, words):
        return False
    return PurePosixPath(mpi_build.beside_python(name)).is_absolute()


def _kind(application: Application) -> ProgramKind:
    program = program_file.own_program(application)
    return ProgramKind(program.kind) if program else ProgramKind.MPI


def _clusters(application: Application) -> list[Cluster]:
    """Those on which it may run and whose nodes have the files of this machine, outside any container."""
    closed = program_clusters.hindrances() if application.owner_id is not None else {}
    return [
        each
        for each in selectors.configured().values()
        if (each.traits.one_machine or each.probe == "grid") and not each.container and closed.get(each.name) is None
    ]


def _has_ended_well(application: Application) -> bool:
    runs = Run.objects.filter(job__application=application, created_at__gt=application.updated_at)
    found = runs.filter(state=RunState.SUCCEEDED).values_list("start_reason", flat=True).distinct()
    return any(reason.code in (Code.NONE, Code.START_NO_MPI) for reason in found)
