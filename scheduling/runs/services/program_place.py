"""A program in a folder that each node of an emulated Grid has of its own: no node finds what was put there."""

from __future__ import annotations

from pathlib import PurePosixPath

from gridportal.base.clusters import Cluster
from gridportal.base.reasons import Code, Reason
from monitoring.clusters import selectors
from scheduling.runs.models import Run
from scheduling.runs.services import program_file

_OF_EACH_NODE = (PurePosixPath("/tmp"), PurePosixPath("/var/tmp"), PurePosixPath("/dev/shm"))  # noqa: S108
#: How launchers begin to say that there is no such file.
_NO_FILE = "No such file"


def private_folder(path: str) -> str:
    """The one around a program's whole path; empty for none."""
    return next((str(each) for each in _OF_EACH_NODE if each in PurePosixPath(path).parents), "")


def has_private_folders(cluster: Cluster) -> bool:
    """Whether its nodes have these folders of their own: it is an emulated Grid."""
    return cluster.traits.one_machine and cluster.traits.has_network


def with_place(run: Run, reason: Reason) -> Reason:
    """The reason why a run failed, with the folder in which its program cannot be found; the same reason where it is
    another one, or the job's program lies elsewhere."""
    if reason.code is not Code.NO_PROGRAM or not str(reason.facts["error"]).startswith(_NO_FILE):
        return reason
    program, cluster = str(reason.facts["program"]), selectors.configured().get(run.job.cluster)
    folder = private_folder(program)
    if not folder or cluster is None or cluster.container or not has_private_folders(cluster):
        return reason
    if program != program_file.program_path(run.job.application):
        return reason
    return Reason.of(Code.PROGRAM_NOT_SHARED, program=program, folder=folder, clusters=[cluster.name])
