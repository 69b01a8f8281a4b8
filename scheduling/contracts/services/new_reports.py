"""The reports of a run that no contract has judged yet: from its progress file, or from its log by a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from gridportal.base import run_directory, run_files
from gridportal.base.run_directory import Part
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core import log_progress
from scheduling.contracts.core.log_progress import LogPosition
from scheduling.contracts.models import Contract
from scheduling.jobs.core.progress_pattern import ProgressPattern
from scheduling.runs.core import progress
from scheduling.runs.selectors import directory_of

_CHUNK = 500_000


@dataclass(frozen=True, slots=True)
class NewReports:
    """Reports, and where the next ones begin in the file; position: where the log was, None for a progress file."""

    phases: Sequence[Phase]
    offset: int
    position: LogPosition | None = None


def next_reports(contract: Contract) -> NewReports:
    """Those of the next piece of the file; nothing is written. Raises RunFileError."""
    directory, pattern = directory_of(contract.run), pattern_of(contract)
    if directory is None:
        return NewReports((), contract.read_offset)
    return _of_log(contract, directory, pattern) if pattern else _of_progress_file(contract, directory)


def has_more(contract: Contract) -> bool:
    """Whether there is a whole line that nobody has judged."""
    directory = directory_of(contract.run)
    if directory is None:
        return False
    part = _part(contract, directory)
    return b"\n" in part.data or part.offset != contract.read_offset


def pattern_of(contract: Contract) -> ProgressPattern | None:
    """What says which lines of its log tell a step; None where it writes a progress file."""
    return contract.run.job.application.output_patterns.progress


def _part(contract: Contract, directory: Path) -> Part:
    name = run_files.OUTPUT if pattern_of(contract) else run_files.PROGRESS
    return run_directory.read_part(directory, name, contract.read_offset, _CHUNK)


def _of_progress_file(contract: Contract, directory: Path) -> NewReports:
    part = _part(contract, directory)
    if part.offset != contract.read_offset:
        return NewReports((), part.offset)
    reported = progress.read(part.data)
    return NewReports(reported.phases, _end(part, reported.consumed))


def _of_log(contract: Contract, directory: Path, pattern: ProgressPattern) -> NewReports:
    part = _part(contract, directory)
    if part.offset != contract.read_offset:  # its middle was taken out: what is behind follows on nothing
        return NewReports((), part.offset, LogPosition())
    consumed = part.data.rfind(b"\n") + 1
    position = LogPosition.read(contract.log_position)
    lines = list(log_progress.lines_of(part.data[:consumed], pattern))
    phases = log_progress.reports(lines, position, _steps(contract, pattern), timezone.now().timestamp())
    return NewReports(phases, _end(part, consumed), position)


def _end(part: Part, consumed: int) -> int:
    """Behind the last whole line; of a line without an end the next one begins somewhere."""
    return part.end if not consumed and len(part.data) == _CHUNK else part.offset + consumed


def _steps(contract: Contract, pattern: ProgressPattern) -> float | None:
    given = contract.run.job.parameters.get(pattern.of) if pattern.of else None
    return float(given) if isinstance(given, int | float) and given > 0 else None
