"""Slurm's words in ours: one table for job states and their causes, one for what keeps its commands from answering."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from gridportal.base.batch_system import BackendState
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.slurm.pending import explain

log = logging.getLogger(__name__)

_P, _R, _F = BackendState.PENDING, BackendState.RUNNING, BackendState.FINISHED

#: Slurm's state -> ours, and the cause that tells what it means (none where ours says enough).
STATES: dict[str, tuple[BackendState, Code]] = {
    "PENDING": (_P, Code.NONE),
    "CONFIGURING": (_P, Code.NODES_PREPARED),
    "POWER_UP_NODE": (_P, Code.NODES_POWERED_UP),
    "REQUEUED": (_P, Code.REQUEUED),
    "REQUEUE_FED": (_P, Code.REQUEUED_ELSEWHERE),
    "REQUEUE_HOLD": (_P, Code.REQUEUED_AND_HELD),
    "SPECIAL_EXIT": (_P, Code.SPECIAL_EXIT),
    "RESV_DEL_HOLD": (_P, Code.RESERVATION_DELETED),
    "RUNNING": (_R, Code.NONE),
    "COMPLETING": (_R, Code.CLEANING_UP),
    "SUSPENDED": (_R, Code.SUSPENDED),
    "STOPPED": (_R, Code.STOPPED_BY_SIGNAL),
    "RESIZING": (_R, Code.RESIZING),
    "SIGNALING": (_R, Code.NONE),
    "STAGE_OUT": (_R, Code.COPYING_OUT),
    "EXPEDITING": (_P, Code.EXPEDITED),
    "COMPLETED": (_F, Code.NONE),
    "FAILED": (_F, Code.NONE),
    "CANCELLED": (_F, Code.JOB_CANCELLED),
    "TIMEOUT": (_F, Code.TIMED_OUT),
    "NODE_FAIL": (_F, Code.NODE_FAILED),
    "BOOT_FAIL": (_F, Code.NODE_NOT_BOOTED),
    "LAUNCH_FAILED": (_F, Code.NOT_LAUNCHED),
    "RECONFIG_FAIL": (_F, Code.NODE_NOT_RECONFIGURED),
    "OUT_OF_MEMORY": (_F, Code.OUT_OF_MEMORY),
    "PREEMPTED": (_F, Code.PREEMPTED),
    "DEADLINE": (_F, Code.DEADLINE),
    "REVOKED": (_F, Code.REVOKED),
}
#: What squeue's compact form and JSON flags say instead.
_SAME = {
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "S": "SUSPENDED",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
    "BF": "BOOT_FAIL",
    "DL": "DEADLINE",
    "RQ": "REQUEUED",
    "RH": "REQUEUE_HOLD",
    "SE": "SPECIAL_EXIT",
    "SO": "STAGE_OUT",
    "SI": "SIGNALING",
    "CANCELED": "CANCELLED",
    "REQUEUE": "REQUEUED",
    "LAUNCH_FAIL": "LAUNCH_FAILED",
}
#: Flags that say nothing of how far a job is.
_SILENT = frozenset({"UPDATE_DB"})

#: What Slurm's commands say when Slurm, not the request, is at fault -> a sentence with what to do.
_FAULTS = (
    ("unable to contact slurm controller", "Slurm's controller does not answer; see whether slurmctld runs"),
    ("unable to contact", "Slurm's service does not answer; see whether slurmctld and slurmdbd run"),
    ("munge", "Slurm's authentication does not work; see whether munged runs"),
    ("authentication", "Slurm's authentication does not work; see whether munged runs with the same key everywhere"),
    ("protocol authentication", "Slurm's authentication does not work; see whether munged runs"),
    ("socket timed out", "Slurm's controller is too busy to answer; it will be asked again"),
    ("zero bytes were transmitted", "Slurm's controller broke off the connection; it will be asked again"),
    ("connection refused", "Slurm's service does not answer; see whether slurmctld and slurmdbd run"),
    ("connect failure", "Slurm's service does not answer; see whether slurmctld and slurmdbd run"),
    ("temporarily unable to accept", "Slurm accepts no jobs for the moment; it will be asked again"),
    ("resource temporarily unavailable", "Slurm is at its limits; it will be asked again"),
    ("backing up", "Slurm asks its clients to slow down; it will be asked again"),
    ("rpc rate limit", "Slurm asks its clients to slow down; it will be asked again"),
    ("writing script/environment", "slurmctld has no room to keep jobs; see the disk of its StateSaveLocation"),
    ("could not establish a configuration source", "no slurm.conf was found; set SLURM_CONF"),
    ("slurm backup controller in standby", "only the standby controller answers; see whether slurmctld runs"),
)


def fault(stderr: str) -> str:
    """Why Slurm itself could not answer and what to do, without a full stop; empty when it could."""
    lowered = stderr.lower()
    return next((sentence for sign, sentence in _FAULTS if sign in lowered), "")


#: What sbatch complains of that passes by itself -> why, and what it passes by.
_LATER = (
    ("partition not available", "the partition takes no jobs at present; it is submitted once it does"),
    ("reservation is inactive", "its reservation has not begun; it is submitted once it has"),
    ("too many jobs", "the cluster has as many jobs as it can keep; it is submitted once some have ended"),
    ("job count limit", "the cluster has as many jobs as it can keep; it is submitted once some have ended"),
)
_LIMIT = re.compile(r"\b((?:QOS|Assoc)(?:Grp|Max)\w+)")


def later(stderr: str) -> str:
    """Why a job that was refused will be taken later, without a full stop; empty when it never will.

    >>> later("sbatch: error: AssocMaxSubmitJobLimit\\nsbatch: error: Batch job submission failed: Job violates ...")
    "the account's limit of submitted jobs is reached; it is submitted once other jobs have ended"
    >>> later("sbatch: error: QOSMaxCpuPerJobLimit\\nsbatch: error: Batch job submission failed: Job violates ...")
    ''
    """
    lowered = stderr.lower()
    if why := next((sentence for sign, sentence in _LATER if sign in lowered), ""):
        return why
    match = _LIMIT.search(stderr)
    limit = explain(match[1]) if match else None
    if limit is None or not limit.can_start:
        return ""
    summary = limit.summary[0].lower() + limit.summary[1:].rstrip(".")
    return f"{summary}; it is submitted once other jobs have ended"


#: What slurmstepd writes into a job's log when Slurm ends it -> the cause.
_ENDED = re.compile(r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT \S+(?: DUE TO (?P<why>[A-Z ]+))?")
_REQUEUED = {
    "PREEMPTION": Code.NODES_PREEMPTED,
    "NODE FAILURE": Code.NODE_FAILED,
    "JOB REQUEUE": Code.PUT_BACK,
}
_TOO_MUCH = ("exceeded memory limit", "exceeded job memory limit", "oom-kill event", "oom_kill event")


def why_requeued(lines: Sequence[str]) -> Reason:
    """Why Slurm ended an attempt and put the job back, from the last lines of its log; none when they do not tell.

    >>> why_requeued(["slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-20T22:02:18 DUE TO PREEMPTION ***"]).code
    <Code.NODES_PREEMPTED: 'nodes_preempted'>
    """
    ends = [match for line in lines if (match := _ENDED.search(line))]
    why = (ends[-1]["why"] or "").strip() if ends else ""
    return next((Reason.of(cause) for sign, cause in _REQUEUED.items() if why.startswith(sign)), NOTHING)


def out_of_memory(lines: Sequence[str]) -> bool:
    """Whether Slurm ended the job because of its memory: where no control group does it, the state is just FAILED.

    >>> out_of_memory(["slurmstepd-n3: error: Exceeded job memory limit"])
    True
    """
    return any("slurmstepd" in line and any(sign in line.lower() for sign in _TOO_MUCH) for line in lines)


def clean_state(word: str) -> str:
    """One state word as the table has it.

    >>> clean_state("CANCELLED by 1000"), clean_state("CANCELLED+"), clean_state("oom")
    ('CANCELLED', 'CANCELLED', 'OUT_OF_MEMORY')
    """
    parts = word.strip().upper().split()
    first = parts[0].rstrip("+*") if parts else ""
    return _SAME.get(first, first)


def run_state(states: Sequence[str]) -> tuple[BackendState, Reason]:
    """Our state and the cause for Slurm's state words: one word in text, a base state and flags in JSON.

    A flag (COMPLETING, REQUEUED, ...) says more than the base state before it; a word that is not in the table
    is logged and leaves UNKNOWN, unless another word is known.
    """
    found: tuple[BackendState, Code] | None = None
    for word in (clean_state(raw) for raw in states):
        if word in STATES:
            found = STATES[word]
        elif word and word not in _SILENT:
            log.warning("Slurm says %r of a job, a state that is not known here.", word)
    if found is None:
        return BackendState.UNKNOWN, Reason.of(Code.UNKNOWN_STATE, states=list(states))
    return found[0], Reason.of(found[1])
