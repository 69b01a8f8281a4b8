"""The batch script of a job on given nodes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gridportal.clusters import Cluster
from monitoring.selectors import setting
from scheduling.core import parameters, script
from scheduling.models import Application, Job
from scheduling.services.requests import JobRequest


def script_of(job: Job | JobRequest, nodes: Sequence[str], directory: str, title: str) -> str:
    """The bash text that runs the job's program with one rank on each of `nodes`."""
    application, cluster = job.application, setting(job.cluster)
    typed = parameters.validate(parameters.parse(application.parameters), job.parameters)
    built_in = {"python": sys.executable, "ranks": len(nodes), "run_dir": directory}
    argv = parameters.render(application.command, {**typed, **built_in})
    return script.render(
        script.Script(
            title=title,
            method=job.method,
            nodes=tuple(nodes),
            argv=tuple(argv),
            run_dir=directory,
            environment={**cluster.environment, **application.environment},
            name=job.name,
            launcher=_launcher(application, cluster),
            modules=(*cluster.modules, *application.modules),
            mpi=application.mpi,
            again=cluster.queues and cluster.requeue,
        )
    )


def _launcher(application: Application, cluster: Cluster) -> tuple[str, ...]:
    """The program's own, else the cluster's, else MPICH's mpiexec.

    A program of the portal's own Python is started by the mpiexec beside that Python: on a cluster no PATH leads
    there, while the emulated Grid sees to it.
    """
    own = tuple(application.launcher) or cluster.launcher
    beside = Path(sys.executable).parent / "mpiexec"
    if own or not cluster.queues or "{python}" not in application.command or not beside.exists():
        return own or script.usual_launcher(application.mpi)
    return (str(beside), *script.LAUNCHER[1:])
