"""Programs with a restart of their own: whether they stopped as they were asked, and what they go on from."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

from gridportal.base import run_files
from gridportal.base.errors import ImpossibleError
from scheduling.jobs.core.own_restart import OwnRestart
from scheduling.jobs.core.program_request import Means
from scheduling.jobs.models import Job
from scheduling.runs.core import restart_file
from scheduling.runs.core.restart_file import FileHealth, RestartFile
from scheduling.runs.models import Run
from scheduling.runs.services import job_folder

log = logging.getLogger(__name__)
#: Seconds by which the clocks of a file system and of the node with the script may differ.
_CLOCKS = 2.0


def file(job: Job) -> str:
    """The file from which its program goes on; empty where it starts. Raises ImpossibleError where the folder cannot be
    read."""
    found = newest(job)
    return found.path if found else ""


def files(job: Job) -> list[tuple[RestartFile, FileHealth]]:
    """All files of its program, the newest first, and whether it can go on from each. Raises ImpossibleError."""
    own = job.application.stop_means.own
    if own is None:
        return []
    try:
        return list(restart_file.judged(restart_file.matching(job_folder.checkpoints(job), own.pattern)))
    except OSError as error:
        raise ImpossibleError(f"Nobody can tell what job {job.pk} goes on from: {error}.") from error


def newest(job: Job) -> RestartFile | None:
    """The newest file of its program that is whole. Raises ImpossibleError."""
    return next((file for file, health in files(job) if health is FileHealth.WHOLE), None)


def ended_as_asked(run: Run, exit_code: int | None) -> bool:
    """Whether a run that is over was asked to stop, and ended as a program does that was."""
    own = run.job.application.stop_means.own
    return own is not None and _asked_at(run) is not None and exit_code in _codes(own)


def left(run: Run) -> RestartFile | None:
    """The file that a run left which was asked to stop; None where none was written after that. Raises ImpossibleError.

    A program that comes to its end in that moment, and writes a file then, has stopped too: its next run has nothing
    left to do.
    """
    found, asked_at = newest(run.job), _asked_at(run)
    return found if found and asked_at is not None and found.written_at >= asked_at - _CLOCKS else None


def _asked_at(run: Run) -> float | None:
    """When its script asked the program."""
    try:
        return os.stat(Path(run.run_dir, run_files.STOP_ASKED), follow_symlinks=False).st_mtime
    except OSError:
        return None


def _codes(own: OwnRestart) -> set[int]:
    """With what a program ends that was asked: one that takes a signal may end by it."""
    if own.ask.means is not Means.SIGNAL:
        return {0}
    return {0, 128 + signal.Signals[f"SIG{own.ask.argv[0]}"].value}
