"""The recording library of an application on a cluster."""

from __future__ import annotations

from pathlib import Path

from gridportal.base.errors import GridPortalError, InputError
from scheduling.jobs.models import Application
from scheduling.runs.adapters import recorder
from scheduling.runs.adapters.mpi_build import mpicc_of
from scheduling.runs.services.paths import runs_home


def library(application: Application, cluster: str) -> Path:
    """The recording library for this application's MPI, where all nodes see it: beside the run directories.

    Raises InputError when the portal has no compiler for that MPI.
    """
    mpicc = mpicc_of(application.mpi, application.launcher)
    try:
        return recorder.built(mpicc, runs_home(cluster) / recorder.CACHE)
    except GridPortalError as error:
        raise InputError("trace", True, f"false, for {application.name} cannot be recorded: {error}") from error
