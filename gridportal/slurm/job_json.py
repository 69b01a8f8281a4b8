"""Jobs from JSON of every version: squeue --json, scontrol --json, sacct --json, and slurmrestd's same documents.

What changed on the way: job_state a string until 23.02 and a list from 23.11; numbers bare, or {set, infinite,
number}; exit_code a wait status, or an object whose signal is {signal_id} and then {id}; job_resources.nodes a
host list, and an object from 24.05 on; sacct's state.current a string and then a list.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.slurm.jobs import Job
from gridportal.slurm.values import exit_status, number, split_list, text, when

log = logging.getLogger(__name__)


def decode(document: Any, command: str = "squeue --json") -> list[Job]:
    """The jobs of a document. Entries that are no jobs are logged and skipped; no list of jobs is a BackendError."""
    if not isinstance(document, Mapping) or not isinstance(document.get("jobs"), list):
        raise BackendError(f"{command} gave an answer without a list of jobs.")
    jobs = []
    for raw in document["jobs"]:
        try:
            jobs.append(_accounted(raw) if "state" in raw else _queued(raw))
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            log.warning("%s holds an entry that is no job (%s): %.120r", command, error, raw)
    if document["jobs"] and not jobs:
        raise BackendError(f"{command} gave {len(document['jobs'])} entries and none of them is a job.")
    return jobs


def _queued(raw: Mapping[str, Any]) -> Job:
    states = split_list(raw["job_state"])
    restarts = number(raw.get("restart_cnt"))
    return Job(
        _identity(
            raw, raw.get("array_job_id"), raw.get("array_task_id"), raw.get("het_job_id"), raw.get("het_job_offset")
        ),
        states,
        text(raw.get("name")),
        text(raw.get("comment")),
        *exit_status(raw.get("exit_code")),
        when(raw.get("start_time")),
        when(raw.get("end_time")),
        _nodes(raw),
        text(raw.get("state_reason")),
        None if restarts is None else int(restarts),
    )


def _accounted(raw: Mapping[str, Any]) -> Job:
    state, times = raw["state"], raw.get("time") or {}
    array, het = raw.get("array") or {}, raw.get("het") or {}
    comment = raw.get("comment")
    task = array.get("task_id", array.get("task"))
    return Job(
        _identity(raw, array.get("job_id"), task, het.get("job_id"), het.get("job_offset")),
        split_list(state["current"]),
        text(raw.get("name")),
        text(comment.get("job") if isinstance(comment, Mapping) else comment),
        *exit_status(raw.get("exit_code")),
        when(times.get("start")),
        when(times.get("end")),
        "" if raw.get("nodes") == "None assigned" else text(raw.get("nodes")),
        text(state.get("reason")),
    )


def _identity(raw: Mapping[str, Any], array: Any, task: Any, het: Any, offset: Any) -> str:
    own = number(raw["job_id"])
    if not own or own < 1:
        raise ValueError("no job_id")
    root, index = number(array), number(task)
    if root and index is not None:
        return f"{int(root)}_{int(index)}"
    lead, part = number(het), number(offset)
    if lead and part is not None:
        return f"{int(lead)}+{int(part)}"
    return str(int(own))


def _nodes(raw: Mapping[str, Any]) -> str:
    nodes = raw.get("nodes")
    if isinstance(nodes, str) and nodes:
        return nodes
    resources = raw.get("job_resources")
    nodes = resources.get("nodes") if isinstance(resources, Mapping) else None
    if isinstance(nodes, Mapping):
        return text(nodes.get("list"))
    return text(nodes) if isinstance(nodes, str) else ""
