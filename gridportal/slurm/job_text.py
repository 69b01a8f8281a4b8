"""Jobs from the text of squeue, sacct and scontrol: explicit fields, free text last, a separator nobody types."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from gridportal.base.errors import BackendError
from gridportal.slurm.jobs import Job, is_id
from gridportal.slurm.records import read as read_records
from gridportal.slurm.translation import STATES, clean_state
from gridportal.slurm.values import exit_status, number, text, when

log = logging.getLogger(__name__)

#: The unit separator of ASCII: names and comments may hold any character that can be typed.
SEPARATOR = "\x1f"

#: squeue's own names for the fields and the widths they are cut at; the same from 22.05 to 25.11.
_SQUEUE = (
    ("JobArrayID", 48),
    ("State", 24),
    ("exit_code", 16),
    ("StartTime", 24),
    ("EndTime", 24),
    ("RestartCnt", 8),
    ("Name", 128),
    ("Reason", 256),
    ("Comment", 256),
)
SQUEUE_FORMAT = ",".join(f"{name}:{width}{SEPARATOR}" for name, width in _SQUEUE)
_SACCT = ("JobID", "State", "ExitCode", "Start", "End", "NodeList", "JobName", "Reason", "Comment")
SACCT_FORMAT = ",".join(_SACCT)


def squeue_argv(ids: Sequence[str] = (), names: Sequence[str] = ()) -> list[str]:
    """squeue for these ids, or these job names, or all: one line a job or array task, ended ones too."""
    argv = ["squeue", "--all", "--noheader", "--array", "--states=all", f"--Format={SQUEUE_FORMAT}"]
    return argv + ([f"--jobs={','.join(ids)}"] if ids else []) + ([f"--name={','.join(names)}"] if names else [])


def sacct_argv(ids: Sequence[str] = (), names: Sequence[str] = (), days: int = 30) -> list[str]:
    """sacct for these ids or names (sacct looks for names since midnight only, unless told a start)."""
    argv = [
        "sacct",
        "--allusers",
        "--noheader",
        "--parsable2",
        "--allocations",
        f"--delimiter={SEPARATOR}",
        f"--format={SACCT_FORMAT}",
    ]
    if ids:
        return [*argv, f"--jobs={','.join(ids)}"]
    return [*argv, f"--starttime=now-{days}days", f"--name={','.join(names)}"]


def parse_squeue(output: str) -> list[Job]:
    """The jobs in squeue's answer; BackendError when it holds lines and none of them is one."""
    return _lines("squeue", output, len(_SQUEUE), _squeue_job)


def parse_sacct(output: str) -> list[Job]:
    """The jobs in sacct's answer; BackendError when it holds lines and none of them is one."""
    return _lines("sacct", output, len(_SACCT), _sacct_job)


def parse_scontrol(output: str) -> list[Job]:
    """The jobs in the answer of `scontrol --oneliner show job`."""
    return _checked(
        "scontrol", output, [job for record in read_records(output, "JobId") if (job := _record_job(record))]
    )


def _lines(command: str, output: str, width: int, make: Callable[[list[str]], Job]) -> list[Job]:
    jobs = []
    for line in output.split("\n"):
        fields = [part.strip() for part in line.split(SEPARATOR, width - 1)]
        if not line.strip():
            continue
        if len(fields) < width or not is_id(fields[0]) or not fields[1]:
            log.warning("%s wrote a line that is no job: %.120r", command, line)
            continue
        jobs.append(make(fields))
    return _checked(command, output, jobs)


def _checked(command: str, output: str, jobs: list[Job]) -> list[Job]:
    if output.strip() and not jobs:
        shown = "".join(c if c.isprintable() else " " for c in output.strip())[:80]
        raise BackendError(f"{command} gave an answer that is no list of jobs: {shown!r}.")
    return jobs


def _squeue_job(fields: list[str]) -> Job:
    identity, state, exit_code, start, end, restarts, name, reason, comment = fields
    count = number(restarts)
    return Job(
        identity,
        (state,),
        name,
        text(comment.rstrip(SEPARATOR)),
        *exit_status(exit_code),
        when(start),
        when(end),
        reason=_reason(state, reason),
        restarts=None if count is None else int(count),
    )


def _sacct_job(fields: list[str]) -> Job:
    identity, state, exit_code, start, end, nodes, name, reason, comment = fields
    return Job(
        identity,
        (state,),
        name,
        text(comment),
        *exit_status(exit_code),
        when(start),
        when(end),
        nodes="" if nodes == "None assigned" else text(nodes),
        reason=_reason(state, reason),
    )


def _record_job(record: dict[str, str]) -> Job | None:
    identity, state = record.get("JobId", ""), record.get("JobState", "")
    if record.get("ArrayJobId") and record.get("ArrayTaskId", "").isdigit():
        identity = f"{record['ArrayJobId']}_{record['ArrayTaskId']}"
    if record.get("HetJobId") and record.get("HetJobOffset", "").isdigit():
        identity = f"{record['HetJobId']}+{record['HetJobOffset']}"
    if not is_id(identity) or clean_state(state) not in STATES:
        log.warning("scontrol wrote a job without a known id or state: %r, %r", identity, state)
        return None
    count = number(record.get("Restarts"))
    return Job(
        identity,
        (state,),
        record.get("JobName", ""),
        text(record.get("Comment")),
        *exit_status(record.get("ExitCode", "")),
        when(record.get("StartTime")),
        when(record.get("EndTime")),
        text(record.get("NodeList")),
        _reason(state, record.get("Reason", "")),
        None if count is None else int(count),
        record,
    )


def _reason(state: str, reason: str) -> str:
    """Only a job that waits has a reason to wait; squeue's word for none is None."""
    return "" if clean_state(state) not in STATES else text(reason)
