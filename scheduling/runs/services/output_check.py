"""What the output of a run that is over says, by the patterns of its application: its check, its seconds, its figures.

A program may tell the same by a `result` in its progress file: a failure of either fails the run, and of seconds and
figures those of the result count.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from gridportal.base import run_directory, run_files
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import RunFileError
from scheduling.jobs.core import last_messages
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.output_search import Budget, OutputFindings, OutputTooSlowError, search_output
from scheduling.runs.models import Run

log = logging.getLogger(__name__)
#: Seconds of processor time for one run: an ordinary log of 64 MiB takes less than one.
_MOST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """What was found. `verified`: None where nothing was to be found out; `reason`: why False; `line`: the first one
    that means failure, empty for none; `columns`: of the run, of those that the check changes."""

    verified: bool | None = None
    reason: Reason = NOTHING
    line: str = ""
    columns: Mapping[str, object] = field(default_factory=dict)


def check_output(run: Run, exit_code: int | None) -> OutputCheck:
    """Look through the log of a run that is over; nothing is written."""
    patterns = run.job.application.output_patterns
    if not patterns:
        return OutputCheck()
    try:
        findings = _findings(run, patterns)
    except OutputTooSlowError as error:
        reason = Reason.of(Code.OUTPUT_TOO_SLOW, pattern=error.pattern, seconds=error.seconds)
        return OutputCheck(False, reason, "", {"verified": False})
    if findings is None:
        return OutputCheck()
    verified, reason = _verdict(run, patterns, findings, exit_code)
    return OutputCheck(
        verified, reason, findings.failure.line if findings.failure else "", _columns(run, findings, verified)
    )


def log_end(run: Run) -> list[str]:
    """The lines at the end of its log among which the first error is sought."""
    return run_directory.last_lines(Path(run.run_dir), last_messages.LINES, size=last_messages.BYTES)


def _findings(run: Run, patterns: OutputPatterns) -> OutputFindings | None:
    """None for a log that cannot be read, for which a run fails anyhow."""
    try:
        file = run_directory.open_plain(Path(run.run_dir), run_files.OUTPUT)
    except RunFileError as error:
        log.warning("job %s: its output cannot be checked: %s", run.job_id, error)
        return None
    if file is None:
        return OutputFindings()
    with file:
        budget = Budget(_MOST_SECONDS, time.thread_time)
        return search_output(file, patterns, budget, 2 * settings.PORTAL.output_limit)


def _verdict(
    run: Run, patterns: OutputPatterns, findings: OutputFindings, exit_code: int | None
) -> tuple[bool | None, Reason]:
    """Without the line of success a run that ended well has failed its check; of another nobody expects it."""
    if findings.failure and patterns.failure:
        pattern, line = patterns.failure.text, findings.failure.line
        return False, Reason.of(Code.OUTPUT_SAYS_FAILURE, pattern=pattern, line=line)
    if patterns.success is None or (exit_code != 0 and not findings.success):
        return None, NOTHING
    if findings.success:
        return True, NOTHING
    lines = log_end(run)
    quoted = last_messages.shown_lines(lines)
    return False, Reason.of(Code.OUTPUT_LACKS_SUCCESS, pattern=patterns.success.text, log=quoted, wrote=bool(lines))


def _columns(run: Run, findings: OutputFindings, verified: bool | None) -> dict[str, object]:
    """Those of the run with what its output says besides."""
    columns: dict[str, object] = {}
    if verified is not None:
        columns["verified"] = verified and run.verified is not False
    if run.seconds is None and findings.seconds and findings.seconds.value is not None:
        columns["seconds"] = findings.seconds.value
    if figures := findings.numbers:
        reported = run.result if isinstance(run.result, dict) else {}
        columns["result"] = {**figures, **reported}
    return columns
