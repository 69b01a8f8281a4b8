"""Taking over what a program reported of itself, each line once."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from gridportal.base import bounded_json, run_directory, run_files
from gridportal.base.run_directory import Fault, RunFileError
from scheduling.runs.core import progress
from scheduling.runs.core.progress import Progress
from scheduling.runs.models import Run
from scheduling.runs.selectors import directory_of
from scheduling.runs.services import phase_totals
from scheduling.runs.services.phase_totals import PhaseRows, first_rows

log = logging.getLogger(__name__)
_CHUNK = 1_000_000
#: What a pass reads of one run: so many chunks, and no more once so many seconds have gone, for others wait.
_MOST_CHUNKS, _MOST_SECONDS = 16, 1.0
#: Bytes left of the file of a run that is over, beyond which only the next ones and the last chunk are read.
_MOST_LEFT = 256_000_000


def ingest(run: Run, *, over: bool = False) -> None:
    """Read on from `progress_offset` for one pass; whoever moves the offset on writes the rows, nobody else.

    `over`: nothing more comes. Where more is left than anybody waits for, all but the last MB is stepped over, in which
    a result would stand; else `is_behind` tells whether another pass is needed. Raises RunFileError for what is no
    plain file, or has a line that nobody can read.
    """
    directory = directory_of(run)
    if directory is None:
        return
    bad, left = _pass(run, directory)
    if over and left > _MOST_LEFT:
        bad |= _last(run, directory)
    if bad:
        raise RunFileError(run_files.PROGRESS, Fault.BAD_LINE, bounded_json.TOO_DEEP)


def is_behind(run: Run) -> bool:
    """Whether a chunk or more is left that a pass had no time for. Raises RunFileError."""
    directory = directory_of(run)
    return directory is not None and _left(run, directory) >= _CHUNK


def _pass(run: Run, directory: Path) -> tuple[bool, int]:
    """Take chunks over until there is none or the pass is over; whether a line was too deep, and the bytes left."""
    until, bad, left = time.monotonic() + _MOST_SECONDS, False, 0
    for count in range(1, 2 * _MOST_CHUNKS):  # more than 16 only of a file that grows as fast as it is read
        took, found = _next(run, directory)
        bad |= found.too_deep
        left = _left(run, directory) if took else 0
        if left == 0 or (left >= _CHUNK and (count >= _MOST_CHUNKS or time.monotonic() > until)):
            break
    return bad, left


def _left(run: Run, directory: Path) -> int:
    """Bytes of the file that have not been read."""
    return run_directory.read_part(directory, run_files.PROGRESS, 0, 0).size - run.progress_offset


@dataclass(frozen=True, slots=True)
class Plain:
    """What a short progress file says besides what is known of the run: its columns, and rows that are not written."""

    changes: dict[str, Any]
    rows: PhaseRows


def read_plain(run: Run) -> Plain | None:
    """All that is left of the file of a run that is over; nothing is written. None where it is long, has a line that
    nobody can read, or where phases were taken over before: then `ingest` does it. Raises RunFileError."""
    directory = directory_of(run)
    if directory is None:
        return Plain({}, first_rows(run, ()))
    part = run_directory.read_part(directory, run_files.PROGRESS, run.progress_offset, _CHUNK)
    found = progress.read(part.data if part.offset == run.progress_offset else b"")
    if len(part.data) == _CHUNK or found.too_deep or found.garbage or (found.phases and run.progress_offset):
        return None
    return Plain(_changes(run, found) if found.consumed else {}, first_rows(run, found.phases))


def _next(run: Run, directory: Path) -> tuple[bool, Progress]:
    """Take the next chunk over; whether there was any that nobody else took."""
    part = run_directory.read_part(directory, run_files.PROGRESS, run.progress_offset, _CHUNK)
    found = progress.read(part.data if part.offset == run.progress_offset else b"")
    if not found.consumed and len(part.data) == _CHUNK:  # one endless line: step over it
        found.consumed = _CHUNK
        found.skip("It has no end.")
    return bool(found.consumed) and _write(run, found), found


def _last(run: Run, directory: Path) -> bool:
    """Step over all but the last chunk; whether that has a line which is too deep."""
    part = run_directory.read_part(directory, run_files.PROGRESS, None, _CHUNK)
    if part.offset <= run.progress_offset:
        return _next(run, directory)[1].too_deep
    begins = part.data.find(b"\n") + 1
    found = progress.read(part.data[begins:])
    found.consumed += part.offset + begins - run.progress_offset
    log.warning("job %s: of its progress file only the first and the last lines were read", run.job_id)
    _write(run, found)
    return found.too_deep


def _write(run: Run, found: Progress) -> bool:
    offset, changes = run.progress_offset, _changes(run, found)
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, progress_offset=offset).update(**changes):
            return False
        phase_totals.add_phases(run, found.phases)
    for name, value in changes.items():
        setattr(run, name, value)
    if found.garbage and offset == 0:
        words = "job %s: %s lines of its progress file cannot be read. The first: %s"
        log.warning(words, run.job_id, found.garbage, found.complaint)
    return True


def _changes(run: Run, found: Progress) -> dict[str, Any]:
    """The columns of the run that this changes."""
    changes: dict[str, Any] = {"progress_offset": run.progress_offset + found.consumed}
    if (hosts := found.hosts) is not None:
        changes["hosts"] = hosts[: run.job.node_count]
    if (result := found.result) is not None:
        changes |= {"verified": result.verified, "seconds": result.seconds, "result": result.figures}
    return changes
