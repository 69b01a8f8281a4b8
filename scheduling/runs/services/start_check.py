"""Whether the processes of a run were ranks of one MPI world: noted by themselves, else guessed from their program.

Nothing here changes how a run ends: what is found is told beside it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from gridportal.base import run_directory, run_files, run_listing
from gridportal.base.clusters import Cluster
from gridportal.base.errors import GridPortalError
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import RunFileError
from scheduling.jobs.core import launcher
from scheduling.jobs.core.linked_mpi import launcher_name, linked_mpi, started_inside, starts_ranks
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.runs.adapters import recorder, world_library
from scheduling.runs.core import started_worlds
from scheduling.runs.core.run_states import RunState
from scheduling.runs.core.started_worlds import World
from scheduling.runs.models import Run
from scheduling.runs.services import program_file
from scheduling.runs.services.output_check import log_end
from scheduling.runs.services.paths import runs_home

log = logging.getLogger(__name__)
_MOST_NOTE = 512
#: Seconds after which somebody asks why no rank has begun MPI. Programs call it first of all.
_PATIENCE = 60.0


def noting_prefix(job: Job | JobSpec, cluster: Cluster, argv: Sequence[str], directory: str) -> tuple[str, ...]:
    """The words before the program's own that let its processes note their worlds; none where that is not to be.

    `argv`: the launcher's. On a cluster of others a library is loaded only until a run of the program, as it is now,
    was in order: no program is to meet it for ever.
    """
    if job.rank_request.total < 2 or not starts_ranks(argv) or _is_ours(job.application):
        return ()
    emulated = (cluster.traits.one_machine and cluster.traits.has_network) or cluster.probe == "grid"
    if not emulated and _was_in_order(job.application, job.cluster):
        return ()
    try:
        return world_library.prefix(world_library.built(runs_home(job.cluster) / recorder.CACHE), directory)
    except GridPortalError as error:
        log.warning("%s: nobody sees whether its ranks find each other: %s", directory, error)
        return ()


def _is_ours(application: Application) -> bool:
    """Whether the portal's own Python runs it, started by the launcher beside it."""
    own = "{python}" in application.command and application.owner_id is None
    return own and not application.launcher and not launcher.is_open_mpi(application.mpi)


def _was_in_order(application: Application, cluster: str) -> bool:
    since = application.updated_at
    if application.pk is None or since is None:
        return False
    runs = Run.objects.filter(job__application=application, job__cluster=cluster, created_at__gt=since)
    return runs.filter(state=RunState.SUCCEEDED, start_reason=NOTHING).exists()


def start_reason(run: Run, argv: Sequence[str]) -> Reason:
    """What is odd about how the ranks of a run that is over were started; NOTHING where nothing is, or nobody knows."""
    ranks = run.job.ranks
    if ranks < 2 or run.job.trace:  # of a recorded one its trace says it
        return NOTHING
    worlds = list(_worlds(Path(run.run_dir)))
    if certain := started_worlds.verdict(worlds, ranks, argv):
        return certain
    if any(world.size >= ranks for world in worlds):
        return NOTHING
    explained = _told_by_log(run, argv) or _told_by_file(run.job.application, ranks, argv)
    return explained or started_worlds.fewer(worlds, ranks, argv)


def not_begun(run: Run, now: datetime) -> Reason:
    """That no rank of a running `run` was seen to begin MPI, though the library that sees it is loaded; NOTHING in its
    first minute, once it has reported progress, and where nobody would know."""
    if run.state != RunState.RUNNING or run.started_at is None or run.job.ranks < 2 or run.job.trace:
        return NOTHING
    waited = (now - run.started_at).total_seconds() >= _PATIENCE and not run.progress_offset
    if not waited or world_library.FOLDER_VARIABLE not in run.script or any(_notes(Path(run.run_dir))):
        return NOTHING
    inside = started_inside(program_file.content(run.job.application))
    return Reason.of(Code.START_NOT_SEEN, since=run.started_at.isoformat(), inside=inside)


def none_started(run: Run, argv: Sequence[str]) -> Reason:
    """That srun started no rank, by its log: it may end with 0 all the same. NOTHING for another launcher."""
    return started_worlds.none_started(log_end(run), argv) if launcher_name(argv).startswith("srun") else NOTHING


def _told_by_log(run: Run, argv: Sequence[str]) -> Reason:
    """What the MPI or srun wrote where the ranks did not find each other, or were not started."""
    return started_worlds.no_process_manager(log_end(run), argv) or none_started(run, argv)


def _told_by_file(application: Application, ranks: int, argv: Sequence[str]) -> Reason:
    if not launcher_name(argv):
        return NOTHING
    content = program_file.content(application)
    inside = started_worlds.script_hint(started_inside(content), ranks, argv)
    return inside or started_worlds.hint(linked_mpi(content), ranks, argv)


def _worlds(directory: Path) -> Iterator[World]:
    """What processes noted."""
    try:
        for name in _notes(directory):
            part = run_directory.read_part(directory, f"{run_files.WORLDS}/{name}", 0, _MOST_NOTE)
            if world := World.read(part.data.decode(errors="replace").strip()):
                yield world
    except (RunFileError, OSError):
        return  # somebody put something else there


def _notes(directory: Path) -> list[str]:
    """The names of the files that processes left; none also where somebody put something else there."""
    try:
        return [entry.name for entry in run_listing.list_folder(directory, run_files.WORLDS).entries]
    except (RunFileError, OSError):
        return []
