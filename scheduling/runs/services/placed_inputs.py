"""The input files of a job, put into the folder of a run before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gridportal.base import run_directory
from gridportal.base.clusters import Cluster
from gridportal.base.errors import RefusedError
from scheduling.jobs.core.input_files import InputFile, check_name
from scheduling.jobs.services import input_store
from scheduling.runs.services.sharing import share_file


def put_inputs(inputs: Sequence[InputFile], directory: Path, cluster: Cluster, user: str) -> None:
    """Copy each into the run directory, whole or not at all; its program may change them there. Copied, not linked:
    what a program writes must not reach what is kept. Raises OSError, and RefusedError for one that is kept no more."""
    for each in inputs:
        kept = input_store.path_of(each.digest)
        if not kept.is_file():
            raise RefusedError(f"Its input file {each.name} is not kept any more; submit it again with the file.")
        run_directory.copy(directory, check_name(each.name), kept)
        share_file(directory / each.name, cluster, user, rights="rw")
