"""Which checkpoint a program goes on from: the newest that is whole."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from mpi4py import MPI

from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.job_files import FINISHED, STOP
from gridportal.runtime.srs import checkpoint_files, checkpoint_reading
from gridportal.runtime.srs.agreement import agreed, on_first
from gridportal.runtime.srs.checkpoint_reading import CheckpointReader
from gridportal.runtime.srs.checkpoint_writing import CheckpointWriter
from gridportal.runtime.srs.shard_depots import ShardDepots
from gridportal.runtime.srs.stop_requests import take_stop


def newest(
    comm: MPI.Intracomm, folder: Path, writer: CheckpointWriter, depots: ShardDepots | None, passed_over: list[str]
) -> CheckpointReader | None:
    """The newest checkpoint of `folder` that is whole, on all ranks; None where the program starts. Collective.

    One that is damaged is set aside. One that is in a depot which does not answer stays where it is; without an
    earlier one the program ends, for to start from the beginning would give up what it has computed. Raises
    GridPortalError then. Sentences on those that cannot be used are added to `passed_over`.
    """
    on_first(comm, partial(_begin, folder, writer))
    unreachable = ""
    first, nothing = comm.Get_rank() == 0, (None, "")
    for number in comm.bcast(checkpoint_files.numbers(folder) if first else []):
        opened, problem = comm.bcast(checkpoint_reading.opened(folder, number) if first else nothing)
        if opened is not None:
            reader = CheckpointReader(comm, opened, depots)
            if not (problem := agreed(comm, reader.verify)):
                reader.share()
                return reader
            if not reader.is_damaged():
                unreachable = unreachable or problem
                _pass_over(comm, number, problem, passed_over)
                continue
        _pass_over(comm, number, problem, passed_over)
        on_first(comm, partial(checkpoint_files.set_aside, folder, number))
    if unreachable:
        raise GridPortalError(f"There is no checkpoint to go on from now, and it is kept for later. {unreachable}")
    if passed_over and first:
        sys.stderr.write("No other checkpoint is left: the program starts from the beginning.\n")
    return None


def _pass_over(comm: MPI.Intracomm, number: int, problem: str, passed_over: list[str]) -> None:
    passed_over.append(problem)
    if comm.Get_rank() == 0:
        sys.stderr.write(f"Checkpoint {number} cannot be used: {problem}\n")


def _begin(folder: Path, writer: CheckpointWriter) -> None:
    """Make the folder, so that a stop can be asked for. A program that had come to its end starts from the beginning,
    and a stop that came too late for it is not meant for this one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError("folder", str(folder), "a folder, or a name that no file has yet") from error
    if (folder / FINISHED).exists():
        writer.swept(partial(checkpoint_files.clear, folder))
        if take_stop(folder):
            sys.stderr.write(f"{folder / STOP} came after the end of the last program, and is taken away.\n")
        (folder / FINISHED).unlink()
    elif (folder / STOP).exists():
        sys.stderr.write(f"{folder / STOP} was there before this program: it is stopped at once.\n")
