"""The reports of a run that no contract has judged yet: from its progress file, from its log or a file of its own by a
pattern, or from the rounds of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.utils import timezone

from gridportal.base import run_directory, run_files
from gridportal.base.run_directory import Part
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core import log_progress, loop_rounds
from scheduling.contracts.core.log_progress import LogPosition
from scheduling.contracts.core.loop_rounds import RoundsPosition
from scheduling.contracts.models import Contract
from scheduling.jobs.core.progress_pattern import ProgressPattern
from scheduling.runs.core import progress
from scheduling.runs.phase_models import PhaseTotal
from scheduling.runs.selectors import directory_of

_CHUNK = 500_000


_MARKS = f"{run_files.TRACE}/{run_files.TRACE_MARKS}"


class Position(Protocol):
    """What is kept of lines that were read, for the reports to come."""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        ...


@dataclass(frozen=True, slots=True)
class NewReports:
    """Reports, and where the next ones begin in the file; position: where that was, None for a progress file."""

    phases: Sequence[Phase]
    offset: int
    position: Position | None = None


def next_reports(contract: Contract) -> NewReports:
    """Those of the next piece of the file; nothing is written. Raises RunFileError."""
    directory, pattern = directory_of(contract.run), pattern_of(contract)
    if directory is None:
        return NewReports((), contract.read_offset)
    if pattern:
        return _of_log(contract, directory, pattern)
    return _of_rounds(contract, directory) if _counts_rounds(contract) else _of_progress_file(contract, directory)


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


def _counts_rounds(contract: Contract) -> bool:
    return contract.run.job.application.output_patterns.rounds


def _part(contract: Contract, directory: Path) -> Part:
    if pattern := pattern_of(contract):
        name = pattern.file or run_files.OUTPUT
    else:
        name = _MARKS if _counts_rounds(contract) else run_files.PROGRESS
    return run_directory.read_part(directory, name, contract.read_offset, _CHUNK)


def _of_progress_file(contract: Contract, directory: Path) -> NewReports:
    part = _part(contract, directory)
    if part.offset != contract.read_offset:  # it was begun anew: what stands in it was never read
        return NewReports((), 0)
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


def _of_rounds(contract: Contract, directory: Path) -> NewReports:
    part = _part(contract, directory)
    if part.offset != contract.read_offset:
        return NewReports((), part.offset, RoundsPosition())
    consumed = part.data.rfind(b"\n") + 1
    position = RoundsPosition.read(contract.log_position)
    if not position.units:
        position.units = _earlier_units(contract)
    phases = loop_rounds.reports(loop_rounds.marks_of(part.data[:consumed]), position)
    return NewReports(phases, _end(part, consumed), position)


def _earlier_units(contract: Contract) -> dict[int, int]:
    """As runs of its application were reported before: what is promised, else what the job's own first run had."""
    promised = contract.prediction
    if promised is not None:
        return loop_rounds.units_of(each.phase for each in promised.phases)
    totals = PhaseTotal.objects.filter(run__job=contract.run.job_id)
    return loop_rounds.units_of(totals.values_list("phase", flat=True).distinct())


def _end(part: Part, consumed: int) -> int:
    """Behind the last whole line; of a line without an end the next one begins somewhere."""
    return part.end if not consumed and len(part.data) == _CHUNK else part.offset + consumed


def _steps(contract: Contract, pattern: ProgressPattern) -> float | None:
    given = contract.run.job.parameters.get(pattern.of) if pattern.of else None
    return float(given) if isinstance(given, int | float) and given > 0 else None
