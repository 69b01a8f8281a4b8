"""The end of a run: the launcher's word tells how it ended, and what the program left must be readable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gridportal.base import run_directory
from gridportal.base.batch_system import RunStatus
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import ExitRecord, Fault, RunFileError
from gridportal.slurm.translation import out_of_memory
from monitoring.clusters.selectors import configured
from scheduling.jobs.core import last_messages as last_words
from scheduling.jobs.core.launcher_lines import abort_line
from scheduling.jobs.core.states import JobState
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import start_check, stop_answer
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.missing_interpreter import with_interpreter
from scheduling.runs.services.output_check import OutputCheck, check_output, log_end
from scheduling.runs.services.program_place import with_place
from scheduling.runs.services.scripts import launcher_of
from scheduling.runs.services.steps import advance_run
from scheduling.runs.services.submissions import ended, name_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends: its final state with the reason, columns of the run, and when it started, if it did.

    `kept`: times that its job keeps, which has begun in an earlier run, or is not over."""

    to: RunState
    reason: Reason
    fields: dict[str, Any]
    started: datetime | None
    kept: frozenset[str] = frozenset()

    @property
    def job(self) -> dict[str, datetime | None]:
        """Columns of its job: its program's times, not when the portal heard of them."""
        ended = self.fields["ended_at"]
        times = {"started_at": self.started, "ended_at": max(ended, self.started or ended)}
        return {name: at for name, at in times.items() if name not in self.kept}


def end(run: Run, status: RunStatus, record: ExitRecord | None, failure: RunFileError | None = None) -> bool:
    """The run is over. `record` counts only where its backend has no word; `failure`: why it cannot be judged."""
    ending = ending_of(run, status, record, failure)
    moved = advance_run(run, ending.to, ending.reason, job=ending.job, **ending.fields)
    if moved:
        log.info("job %s: %s ended with exit code %s", run.job_id, run.key, ending.fields["exit_code"])
    return moved


def ending_of(run: Run, status: RunStatus, record: ExitRecord | None, failure: RunFileError | None = None) -> Ending:
    """How the run ended; nothing is written."""
    code, at, started = ended(run, status, record)
    fields: dict[str, Any] = {"exit_code": code, "ended_at": at, "backend_id": name_of(run)}
    if started:
        fields["started_at"] = started
    if cancelled := _cancelled(run, status, started):
        return Ending(RunState.CANCELLED, cancelled, fields, started)
    kept = frozenset({"started_at"} if run.goes_on_from is not None else ())
    if stopped := stop_answer.stopped_reason(run, code):
        return Ending(*stopped, fields, started, kept | {"ended_at"})
    check = check_output(run, code)
    to, reason = _verdict(run, status, code, failure, check)
    start = _start_reason(run, start_check.start_reason)
    if to is RunState.SUCCEEDED and not reason and (nothing_ran := _start_reason(run, start_check.none_started)):
        to, reason, start = RunState.FAILED, nothing_ran, NOTHING
    if to is RunState.FAILED and start.code is Code.START_NO_MPI:
        start = NOTHING  # it may have failed before it got so far
    kept |= {"ended_at"} if to is RunState.FAILED and run.goes_back else set()
    return Ending(to, reason, {**fields, **check.columns, "start_reason": start}, started, kept)


def _start_reason(run: Run, check: Callable[[Run, Sequence[str]], Reason]) -> Reason:
    """What is odd about how its ranks were started: told beside its end, whatever that is."""

    def look() -> Reason:
        application, cluster = run.job.application, configured().get(run.job.cluster)
        return check(run, launcher_of(application, cluster) if cluster else application.launcher)

    return isolated(f"job {run.job_id}: how its ranks were started", look).value or NOTHING


def _cancelled(run: Run, status: RunStatus, started: datetime | None) -> Reason:
    if run.job.state == JobState.CANCELLING:
        code = Code.CANCELLED_RUNNING if started else Code.CANCELLED_EARLY
        return Reason.of(code, person=run.job.cancel_requested_by)
    return Reason.of(Code.CANCELLED_THERE) if status.cause is Code.JOB_CANCELLED else NOTHING


def _verdict(
    run: Run, status: RunStatus, code: int | None, failure: RunFileError | None, check: OutputCheck
) -> tuple[RunState, Reason]:
    failure = failure or _unreadable(run)
    if code == 0 and run.verified is not False:
        if failure:
            return RunState.FAILED, Reason.of(Code.UNREADABLE, fault=str(failure))
        if check.reason:
            return RunState.FAILED, check.reason
        if aborted := abort_line(log_end(run), unseen=True):
            return RunState.FAILED, Reason.of(Code.ABORTED, line=aborted)
        return RunState.SUCCEEDED, Reason.of(Code.VERIFIED) if run.verified or check.verified else NOTHING
    return RunState.FAILED, _why(run, status, code, failure, check)


def _why(run: Run, status: RunStatus, code: int | None, failure: RunFileError | None, check: OutputCheck) -> Reason:
    lines = log_end(run)
    why = status.reason
    if not why and status.signal and out_of_memory(lines):
        why = Reason.of(Code.OUT_OF_MEMORY)
    passed = run.verified if check.verified is None else check.verified and run.verified is not False
    found = last_words.ended(code, passed, why, [check.line] if check.line else lines, str(failure or ""))
    if check.line and found.code is Code.ENDED and not (why or failure):  # it tells more than the exit code
        return check.reason
    return with_interpreter(run, with_place(run, found))


def _unreadable(run: Run) -> RunFileError | None:
    """What keeps the portal from knowing the result: a file as it is now, or a line that may have been the result."""
    noted = run.failure
    lost = noted if noted and noted.fault is Fault.BAD_LINE and run.verified is None and run.seconds is None else None
    return run_directory.first_fault(Path(run.run_dir)) or lost
