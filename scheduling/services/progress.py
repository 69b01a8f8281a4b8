"""Taking over what a program reported of itself, each line once."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from scheduling.adapters import run_directory
from scheduling.core import progress
from scheduling.core.progress import Progress
from scheduling.models import PhaseReport, Run
from scheduling.selectors import directory_of

log = logging.getLogger(__name__)
MOST_PHASES = 5000
_CHUNK = 1_000_000
_CHUNKS = 8


def ingest(run: Run) -> None:
    """Read on from `progress_offset`, at most 8 MB; whoever moves the offset on writes the rows, nobody else."""
    directory = directory_of(run)
    if directory is None:
        return
    for _ in range(_CHUNKS):
        part = run_directory.read_part(directory, run_directory.PROGRESS, run.progress_offset, _CHUNK)
        if part.offset != run.progress_offset:
            return
        found = progress.read(part.data)
        if not found.consumed and len(part.data) == _CHUNK:  # one endless line: step over it
            found.consumed, found.garbage = _CHUNK, 1
        if not found.consumed or not _write(run, found):
            return


def _write(run: Run, found: Progress) -> bool:
    offset = run.progress_offset
    changes: dict[str, Any] = {"progress_offset": offset + found.consumed}
    if found.hosts is not None:
        changes["hosts"] = found.hosts
    if found.result is not None:
        changes |= {
            "verified": found.result.verified,
            "seconds": found.result.seconds,
            "result": found.result.figures,
        }
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, progress_offset=offset).update(**changes):
            return False
        _write_phases(run, found)
    for name, value in changes.items():
        setattr(run, name, value)
    if found.garbage and offset == 0:
        log.warning("job %s: %s lines of its progress file cannot be read", run.job_id, found.garbage)
    return True


def _write_phases(run: Run, found: Progress) -> None:
    if not found.phases:
        return
    room = max(0, MOST_PHASES - PhaseReport.objects.filter(run=run).count())
    PhaseReport.objects.bulk_create(
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
    )
