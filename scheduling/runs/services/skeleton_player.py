"""Who plays the skeletons of an application on a cluster: the player in C with its own MPI, or the portal's Python."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from gridportal.base.errors import GridPortalError
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Application
from scheduling.runs.adapters import mpi_build, player, recorder
from scheduling.runs.services.paths import runs_home

log = logging.getLogger(__name__)


class SkeletonPlayer(NamedTuple):
    """`program`: the player in C, where all nodes see it; None: Python plays. `reason` says who and why."""

    program: Path | None
    reason: Reason


def player_of(application: Application, cluster: str) -> SkeletonPlayer:
    """Programs of mpi4py are played in Python; what else there is by the player that its own MPI's compiler builds.

    Python with the portal's own MPI plays as well where there is no such compiler: the reason says so.
    """
    if "{python}" in application.command:
        return SkeletonPlayer(None, Reason.of(Code.PLAYED_IN_PYTHON))
    try:
        program = player.built(
            mpi_build.mpicc_of(application.mpi, application.launcher), runs_home(cluster) / recorder.CACHE
        )
        return SkeletonPlayer(program, Reason.of(Code.PLAYED_IN_C, mpi=player.mpi(program)))
    except (GridPortalError, OSError) as error:
        log.warning("application %s: its skeletons are played with the portal's MPI: %s", application.slug, error)
        return SkeletonPlayer(None, Reason.of(Code.PLAYED_BY_PORTAL, error=str(error)))
