"""Taking over what a program reported of itself, each line once."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from gridportal.base import bounded_json, run_directory, run_files
from gridportal.base.run_directory import Fault, RunFileError
from gridportal.runtime.progress_events import Restored, StartsAnew, Stopped
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
#: Chunks that one step looks through for the end of a line which is longer than a chunk.
_MOST_SOUGHT = 128
#: Of the file of a run that is over only the next chunks and the last one are read where more bytes than that are left,
#: or after so long: its nodes are kept meanwhile.
_MOST_LEFT, _LONGEST = 256_000_000, timedelta(seconds=30)


def ingest(run: Run, *, over: bool = False) -> None:
    """Read on from `progress_offset` for one pass; whoever moves the offset on writes the rows, nobody else.

    `over`: nothing more comes. Where more is left than anybody waits for, all but the last MB is stepped over, in which
    a result would stand; else `is_behind` tells whether another pass is needed. Raises RunFileError for what is no
    plain file, or has a line that nobody can read; of a run that is over also while there is more to read, and where
    something was left out.
    """
    directory = directory_of(run)
    if directory is None:
        return
    bad, left = _pass(run, directory)
    omitted = 0
    if over and (left > _MOST_LEFT or (left >= _CHUNK and _waited(run))):
        deep, omitted = _last(run, directory)
        bad |= deep
    if bad:
        raise RunFileError(run_files.PROGRESS, Fault.BAD_LINE, bounded_json.TOO_DEEP)
    if over and (failure := _failure(run, left, omitted)):
        raise failure


def is_behind(run: Run) -> bool:
    """Whether a chunk or more is left that a pass had no time for, and that is waited for. Raises RunFileError."""
    directory = directory_of(run)
    return directory is not None and not _waited(run) and _left(run, directory) >= _CHUNK


def _waited(run: Run) -> bool:
    """Whether it was noted long enough ago that the file is still being read, or has a line that nobody can read."""
    since = run.unread_since
    return since is not None and timezone.now() - since >= _LONGEST


def _failure(run: Run, left: int, omitted: int) -> RunFileError | None:
    """What to note of a run that is over: a line that may have been its result stays noted, whatever else there is."""
    if (noted := run.failure) and noted.fault.stays and (omitted or left >= _CHUNK):
        return noted
    if omitted:
        detail = f"{omitted / 1e6:.1f} MB of it before its last lines are in no sum"
        return RunFileError(run_files.PROGRESS, Fault.LEFT_OUT, detail)
    return RunFileError(run_files.PROGRESS, Fault.BEHIND) if left >= _CHUNK else None


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
    if part.offset != run.progress_offset:
        return None
    reported = progress.read(part.data)
    if len(part.data) == _CHUNK or reported.too_deep or reported.garbage or (reported.phases and run.progress_offset):
        return None
    return Plain(_changes(run, reported) if reported.consumed else {}, first_rows(run, reported.phases))


def _next(run: Run, directory: Path) -> tuple[bool, Progress]:
    """Take the next chunk over; whether there was any that nobody else took."""
    part = run_directory.read_part(directory, run_files.PROGRESS, run.progress_offset, _CHUNK)
    if part.offset != run.progress_offset and _begin_anew(run):
        part = run_directory.read_part(directory, run_files.PROGRESS, 0, _CHUNK)
    reported = progress.read(part.data if part.offset == run.progress_offset else b"")
    if not reported.consumed and len(part.data) == _CHUNK:  # one endless line: step over it
        reported.consumed = _end_of_line(directory, part.end) - run.progress_offset
        reported.skip("It is too long.")
    return bool(reported.consumed) and _write(run, reported), reported


def _begin_anew(run: Run) -> bool:
    """The file is shorter than what was read of it, so that its lines are others; whether nobody else noted that."""
    rows = Run.objects.filter(pk=run.pk, progress_offset=run.progress_offset)
    if not rows.update(progress_offset=0):
        return False
    run.progress_offset = 0
    return True


def _end_of_line(directory: Path, offset: int) -> int:
    """The offset after the line that goes on at `offset`; that of what was looked through where there is no end."""
    for _ in range(_MOST_SOUGHT):
        part = run_directory.read_part(directory, run_files.PROGRESS, offset, _CHUNK)
        if part.offset != offset or not part.data:
            break
        if (end := part.data.find(b"\n")) >= 0:
            return offset + end + 1
        offset = part.end
    return offset


def _last(run: Run, directory: Path) -> tuple[bool, int]:
    """Step over all but the last chunk; whether that has a line which is too deep, and the bytes that were left out."""
    part = run_directory.read_part(directory, run_files.PROGRESS, None, _CHUNK)
    if part.offset <= run.progress_offset:
        return _next(run, directory)[1].too_deep, 0
    begins = part.data.find(b"\n") + 1
    reported = progress.read(part.data[begins:])
    omitted = part.offset + begins - run.progress_offset
    reported.consumed += omitted
    log.warning("job %s: of its progress file only the first and the last lines were read", run.job_id)
    _write(run, reported)
    return reported.too_deep, omitted


def _write(run: Run, reported: Progress) -> bool:
    offset, changes = run.progress_offset, _changes(run, reported)
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, progress_offset=offset).update(**changes):
            return False
        phase_totals.add_phases(run, reported.phases)
    for name, value in changes.items():
        setattr(run, name, value)
    if reported.garbage and offset == 0:
        message = "job %s: %s lines of its progress file cannot be read. The first: %s"
        log.warning(message, run.job_id, reported.garbage, reported.complaint)
    return True


def _changes(run: Run, reported: Progress) -> dict[str, Any]:
    """The columns of the run that this changes."""
    changes: dict[str, Any] = {"progress_offset": run.progress_offset + reported.consumed}
    if (hosts := reported.hosts) is not None:
        most = run.job.ranks if run.goes_on_from is None else len(run.placement.nodes)
        changes["hosts"] = hosts[:most]
    if (result := reported.result) is not None:
        changes |= {"verified": result.verified, "seconds": result.seconds, "result": result.figures}
    if (stopped := reported.last(Stopped)) is not None:
        changes["stopped"] = {**stopped.fields(), "at": stopped.at}
    if run.goes_on_from is not None and run.restored is None and reported.last(StartsAnew) is not None:
        changes |= {"begins_anew": True, "goes_back": False}
    if (restored := reported.last(Restored)) is not None:
        changes |= {"restored": {**restored.fields(), "at": restored.at}, "goes_back": False}
    return changes
