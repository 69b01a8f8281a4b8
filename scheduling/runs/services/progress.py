"""Taking over what a program reported of itself, each line once."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from gridportal.base import bounded_json, run_directory, run_files
from gridportal.base.run_directory import Fault, RunFileError
from scheduling.runs.core import progress
from scheduling.runs.core.progress import Progress
from scheduling.runs.models import PhaseReport, Run
from scheduling.runs.selectors import directory_of

log = logging.getLogger(__name__)
MOST_PHASES = 5000
_CHUNK = 1_000_000
#: How many chunks one poll reads of a run that goes on, and of one that is over.
_GOING, _OVER = 1, 4


def ingest(run: Run, *, over: bool = False) -> None:
    """Read on from `progress_offset`, at most 1 MB; whoever moves the offset on writes the rows, nobody else.

    `over`: nothing more comes, so that what is left is read to its end. Where that is more than 4 MB only its last
    MB is, in which a result would stand. Raises RunFileError for what is no plain file, or has a line that nobody can
    read.
    """
    directory = directory_of(run)
    if directory is None:
        return
    bad = False
    for _ in range(_OVER if over else _GOING):
        read, found = _next(run, directory)
        if not read:
            break
        bad |= found.too_deep
    else:
        if over:
            bad |= _last(run, directory)
    if bad:
        raise RunFileError(run_files.PROGRESS, Fault.BAD_LINE, bounded_json.TOO_DEEP)


@dataclass(frozen=True, slots=True)
class Plain:
    """What a short progress file says besides what is known of the run: columns, and rows that are not written yet."""

    changes: dict[str, Any]
    phases: list[PhaseReport]


def read_plain(run: Run) -> Plain | None:
    """All that is left of the file of a run that is over; nothing is written. None where it is long, has a line that
    nobody can read, or where phases were taken over before: then `ingest` does it. Raises RunFileError."""
    directory = directory_of(run)
    if directory is None:
        return Plain({}, [])
    part = run_directory.read_part(directory, run_files.PROGRESS, run.progress_offset, _CHUNK)
    found = progress.read(part.data if part.offset == run.progress_offset else b"")
    if len(part.data) == _CHUNK or found.too_deep or found.garbage or (found.phases and run.progress_offset):
        return None
    return Plain(_changes(run, found) if found.consumed else {}, _phase_rows(run, found, MOST_PHASES))


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
        _write_phases(run, found)
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


def _write_phases(run: Run, found: Progress) -> None:
    if not found.phases:
        return
    room = max(0, MOST_PHASES - PhaseReport.objects.filter(run=run).count())
    PhaseReport.objects.bulk_create(_phase_rows(run, found, room))


def _phase_rows(run: Run, found: Progress, room: int) -> list[PhaseReport]:
    return [
        PhaseReport(
            run=run,
            at=datetime.fromtimestamp(phase.at, UTC),
            phase=phase.name,
            iteration=phase.iteration,
            of=phase.of,
            seconds=phase.seconds,
            compute=phase.compute,
            communicate=phase.communicate,
        )
        for phase in found.phases[:room]
    ]
