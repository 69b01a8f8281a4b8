"""The batch script of a job on given nodes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from gridportal.base import run_files
from gridportal.base.clusters import Cluster
from gridportal.base.errors import GridPortalError
from gridportal.base.job_files import CHECKPOINTS, CHECKPOINTS_VARIABLE
from monitoring.clusters.selectors import configured, setting
from scheduling.jobs.core import launcher, parameters
from scheduling.jobs.core.own_restart import with_restart
from scheduling.jobs.core.program_request import USUAL
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.runs.adapters import finalizer, recorder
from scheduling.runs.core import restart_lines, script
from scheduling.runs.core.opening_lines import OpenedFolder
from scheduling.runs.core.restart_lines import RestartArguments
from scheduling.runs.services import job_depots, job_folder, own_restarts, start_check
from scheduling.runs.services import recording_library as profiles
from scheduling.runs.services.paths import runs_home
from scheduling.runs.services.sharing import opened_folder

log = logging.getLogger(__name__)
#: Seconds before the end of a run in which a program that is stopped in time has ended.
_SPARE = 10.0
_SKELETON = ("{python}", "-m", "gridportal.runtime.skeleton", f"{{run_dir}}/{run_files.SKELETON}")


def script_of(
    job: Job | JobSpec, nodes: Sequence[str], directory: str, title: str, shares: Sequence[float] = ()
) -> str:
    """The bash text that runs the job's program with a rank on each of `nodes`, a node once for each of its ranks.

    `shares`: what part of the work each rank is to do, where somebody says so.
    """
    shown = tuple(f"{share:.6g}" for share in shares)
    argv = (*_preloaded(job, directory), *_command(job, nodes, directory, shown))
    return _script(job, nodes, directory, title, argv, job.time_limit, shown)


def skeleton_script(job: Job, nodes: Sequence[str], directory: str, title: str, player: Path | None = None) -> str:
    """The bash text that runs the skeleton in the run directory.

    With `player`, the one in C, it is started as the application is, by its launcher and in its environment; wrappers
    in its launcher see the application's own arguments behind the player's. Without, it is a program of the portal's
    own Python, like those of its catalogue, whatever the application itself is started with.
    """
    if player is not None:
        files = (f"{directory}/{run_files.SKELETON_PLAN}", f"{directory}/{run_files.SKELETON_TIMES}")
        own = _command(job, nodes, directory)[1:]
        ending = _finalizer(job, directory)
        argv = (*(finalizer.prefix(ending[0]) if ending else ()), str(player), *files, *own)
        return _script(job, nodes, directory, title, argv)
    program = Application(slug="skeleton", name="skeleton", command=list(_SKELETON))
    cpus = job.rank_request.cpus_per_rank
    asked = JobSpec(program, {}, ranks=len(nodes), cpus_per_rank=cpus, method=job.method, cluster=job.cluster)
    return script_of(asked, nodes, directory, title)


def _command(job: Job | JobSpec, nodes: Sequence[str], directory: str, shares: Sequence[str] = ()) -> tuple[str, ...]:
    """The application's own words."""
    application, cluster = job.application, setting(job.cluster)
    typed = parameters.validate(parameters.parse(application.parameters), job.parameters)
    built_in: dict[str, parameters.Value] = {
        "python": cluster.python or sys.executable,
        "ranks": len(nodes),
        "run_dir": directory,
        "shares": ",".join(shares or ["1"] * len(nodes)),
    }
    values = {CHECKPOINTS: _checkpoints(job, directory), **typed, **built_in}
    if application.stop_means.own is None:
        return tuple(parameters.render(application.command, values))
    words = (restart_lines.PLACE,) if _looks_itself(job, cluster) else _restart_words(job)
    return tuple(with_restart(application.command, words, values))


def _looks_itself(job: Job | JobSpec, cluster: Cluster) -> bool:
    """Whether the script looks for the file of a restart where its cluster starts it again."""
    return isinstance(job, Job) and job.application.stop_means.own is not None and _starts_again(cluster)


def _starts_again(cluster: Cluster) -> bool:
    return cluster.traits.starts_again and cluster.requeue


def _restart_words(job: Job | JobSpec) -> tuple[str, ...]:
    """Those for the file that is there now."""
    own = job.application.stop_means.own
    return own.restart_argv(own_restarts.file(job) if isinstance(job, Job) else "") if own else ()


def _restart(job: Job | JobSpec, cluster: Cluster, directory: str) -> RestartArguments | None:
    own = job.application.stop_means.own
    if own is None or not _looks_itself(job, cluster):
        return None
    return RestartArguments(_restart_words(job), own.restart, _checkpoints(job, directory), own.pattern)


def _checkpoints(job: Job | JobSpec, directory: str) -> str:
    """Where the program has what it goes on from; of a job that is only asked for nobody knows it yet."""
    return str(job_folder.checkpoints(job)) if isinstance(job, Job) else f"{directory}/{CHECKPOINTS}"


def _script(
    job: Job | JobSpec,
    nodes: Sequence[str],
    directory: str,
    title: str,
    argv: Sequence[str],
    time_limit: float | None = None,
    shares: tuple[str, ...] = (),
) -> str:
    """On the emulated Grid, also under its Slurm, no rank is bound: its nodes share the processors of one machine."""
    application, cluster = job.application, setting(job.cluster)
    own = application.stop_means.own
    return script.render(
        script.Script(
            title=title,
            method=job.method,
            nodes=tuple(nodes),
            shares=shares,
            argv=(*cluster.container, *argv),
            run_dir=directory,
            environment={**cluster.environment, **application.environment, **_of_job(job, directory)},
            name=job.name,
            launcher=launcher_of(application, cluster),
            modules=(*cluster.modules, *application.modules),
            mpi=application.mpi,
            again=_starts_again(cluster),
            output_limit=0 if cluster.traits.bounds_logs else settings.PORTAL.output_limit,
            host=cluster.traits.host,
            cpus_per_rank=job.rank_request.cpus_per_rank,
            time_limit=None if cluster.traits.tells_ends else time_limit,
            stop=own.ask if own else USUAL,
            stop_before=application.stop_means.seconds + _SPARE if own else None,
            checkpoint=own.checkpoint if own else None,
            checkpoint_every=own.every if own else None,
            restart=_restart(job, cluster, directory) if restart_lines.PLACE in argv else None,
            opens=_opened(job, cluster),
            binds=not cluster.traits.one_machine and cluster.probe != "grid",
        )
    )


def _opened(job: Job | JobSpec, cluster: Cluster) -> OpenedFolder | None:
    """Where its program keeps what the portal is to read and free."""
    if not isinstance(job, Job) or not job.application.stop_means:
        return None
    return opened_folder(job_folder.folder(job), cluster)


def _of_job(job: Job | JobSpec, directory: str) -> dict[str, str]:
    """Where a program that can be stopped has its checkpoints, and what lets it use depots; of a job that is only asked
    for nobody knows yet."""
    if not isinstance(job, Job) or not job.application.stop_means:
        return {}
    return {CHECKPOINTS_VARIABLE: str(job_folder.checkpoints(job)), **job_depots.variables(job, directory)}


def _preloaded(job: Job | JobSpec, directory: str) -> tuple[str, ...]:
    """The words that load libraries of ours into each rank: what records its calls, what lets it end, and what
    notes its worlds where nothing is recorded."""
    cluster = setting(job.cluster)
    finalizing, recording = _finalizer(job, directory), _recorder(job, directory)
    if recording:
        folder = f"{directory}/{recorder.FOLDER}"
        return recorder.prefix(recording[0], folder, *finalizing, marks_only=not job.trace)
    noting = start_check.noting_prefix(job, cluster, launcher_of(job.application, cluster), directory)
    return (*(finalizer.prefix(finalizing[0]) if finalizing else ()), *noting)


def _recorder(job: Job | JobSpec, directory: str) -> list[Path]:
    """The library that makes the program record what it calls, or tell its rounds. It was checked at submission that it
    can be had; if that has changed since, the job itself goes before its profile."""
    if not (job.trace or job.application.output_patterns.rounds):
        return []
    try:
        return [profiles.library(job.application, job.cluster)]
    except GridPortalError as error:
        log.warning("%s runs unrecorded: %s", directory, error)
        return []


def _finalizer(job: Job | JobSpec, directory: str) -> list[Path]:
    """For MPICH 4.0 on the emulated Grid, also under its Slurm, where all ranks of two nodes talk over TCP."""
    application, cluster = job.application, setting(job.cluster)
    emulated = cluster.traits.one_machine and cluster.traits.has_network
    if not (emulated or cluster.probe == "grid") or not finalizer.is_needed(application.mpi, application.launcher):
        return []
    try:
        return [finalizer.built(runs_home(job.cluster) / recorder.CACHE)]
    except GridPortalError as error:
        log.warning("%s may never end, with three ranks or more: %s", directory, error)
        return []


def finds_nodes(job: Job | JobSpec) -> bool:
    """Whether what starts the job's ranks asks the cluster for its nodes (srun), and is not told them."""
    cluster = configured().get(job.cluster)
    return cluster is not None and not launcher.is_given_nodes(launcher_of(job.application, cluster))


def launcher_of(application: Application, cluster: Cluster) -> tuple[str, ...]:
    """The program's own, else the cluster's, else MPICH's mpiexec.

    A program of the portal's own Python, or of the one that the cluster names, is started by the mpiexec beside that
    Python: on a cluster no PATH leads there, while the emulated Grid sees to it.
    """
    own = tuple(application.launcher) or cluster.launcher
    if own or cluster.traits.has_own_mpiexec or "{python}" not in application.command:
        return own or launcher.usual_launcher(application.mpi)
    beside = Path(cluster.python or sys.executable).parent / "mpiexec"
    if not cluster.python and not beside.exists():
        return launcher.usual_launcher(application.mpi)
    return (str(beside), *launcher.LAUNCHER[1:])
