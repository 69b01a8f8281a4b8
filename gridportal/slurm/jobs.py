"""A job as Slurm tells of it, whichever command told it, and what that means for a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.slurm.pending import NODES_AWAY
from gridportal.slurm.translation import clean_state, run_state

#: 123, 123_4 (array task), 123_[5-9] (tasks that have not started), 123+1 (part of a heterogeneous job).
ID = re.compile(r"^(?P<root>\d+)(?:_(?P<task>\d+|\[[^\]]*\])|\+(?P<part>\d+))?$")


#: Reasons of a job that has run, beside its exit code or signal.
_RAN = ("NonZeroExitCode", "RaisedSignal", "JobLaunchFailure", "OutOfMemory", "TimeLimit")


@dataclass(frozen=True, slots=True)
class Job:
    """One job, array task or part. `states` are Slurm's words; times in Unix seconds; `nodes` a host list.

    `started_at` is expected, not seen, while the job is pending.
    """

    id: str
    states: tuple[str, ...]
    name: str = ""
    comment: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    nodes: str = ""
    reason: str = ""
    restarts: int | None = None
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The number that it was submitted under."""
        match = ID.match(self.id)
        return match["root"] if match else self.id

    @property
    def state(self) -> BackendState:
        """Ours."""
        return run_state(self.states)[0]


def is_id(text: str) -> bool:
    """Whether this is a job number of Slurm's (also of an array task or a part) and not one of our keys."""
    return ID.match(text) is not None


def status(job: Job) -> RunStatus:
    """What a run's poll answers. An ended job that Slurm calls anything but completed never has exit code 0."""
    state, why = run_state(job.states)
    if state is BackendState.UNKNOWN:
        return RunStatus(state, cause=why.code, facts=why.facts)
    if state is BackendState.PENDING:
        why = _why_pending(job, why)
        return RunStatus(
            state,
            cause=why.code,
            facts=why.facts,
            expected_start=job.started_at,
            held=_held(job),
            restarts=job.restarts or 0,
            delayed=_delayed(job),
            unavailable=job.reason.startswith(NODES_AWAY),
        )
    if state is BackendState.RUNNING:
        return RunStatus(state, started_at=job.started_at, cause=why.code, facts=why.facts)
    code = job.exit_code
    if code == 0 and all(clean_state(word) != "COMPLETED" for word in job.states):
        code = None
    why = why or _why_never_started(job)
    started = None if _never_ran(job) else job.started_at
    return RunStatus(state, code, job.signal, started, job.ended_at, why.code, why.facts)


def _never_ran(job: Job) -> bool:
    """Whether it was cancelled while it waited: Slurm then calls the moment of that its start, too."""
    return any(clean_state(word) == "CANCELLED" for word in job.states) and job.started_at == job.ended_at


def _why_pending(job: Job, why: Reason) -> Reason:
    if not job.reason or job.reason == "None":
        return why
    return Reason.of(Code.SLURM_WAITS, state=why, slurm_reason=job.reason)


def _why_never_started(job: Job) -> Reason:
    """Why Slurm failed a job that it gave no node: it had no program of which an exit code could tell."""
    nowhere = job.nodes in ("", "(null)", "None assigned") and job.state is BackendState.FINISHED
    failed = any(clean_state(word) == "FAILED" for word in job.states)
    ran = job.reason in ("", "None") or job.reason.startswith(_RAN)  # squeue is not asked for nodes
    return (
        Reason.of(Code.SLURM_WAITS, state=NOTHING, slurm_reason=job.reason)
        if nowhere and failed and not ran
        else NOTHING
    )


def _held(job: Job) -> bool:
    """Whether it waits for somebody to release it."""
    states = {clean_state(word) for word in job.states}
    return "held" in job.reason.lower() or bool(states & {"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})


def _delayed(job: Job) -> bool:
    """Whether a requeue lets it wait: Slurm sets an earliest start then, and gives no other reason, or none yet."""
    return bool(job.restarts) and not _held(job) and job.reason in ("BeginTime", "None", "")


def gather(wanted: str, jobs: Sequence[Job]) -> RunStatus | None:
    """The status of one id or key (of a submitted array or heterogeneous job: all its tasks or parts together).

    Should a key have two jobs, the first submitted counts.
    """
    root = wanted if is_id(wanted) else min((job.root for job in jobs), key=int, default="")
    mine = [job for job in jobs if job.id == root] or [job for job in jobs if job.root == root]
    if not mine:
        return None
    if len(mine) == 1:
        return status(mine[0])
    return _together([status(job) for job in mine])


def _together(parts: Sequence[RunStatus]) -> RunStatus:
    """Running while any part runs; pending until any has started; ended when all have, as the worst of them did."""
    states = {part.state for part in parts}
    started = [part.started_at for part in parts if part.started_at is not None]
    if states <= {BackendState.FINISHED}:
        worst = max(parts, key=lambda part: (part.exit_code != 0, part.exit_code or 0, part.signal or 0))
        ended = [part.ended_at for part in parts if part.ended_at is not None]
        return RunStatus(
            BackendState.FINISHED,
            worst.exit_code,
            worst.signal,
            min(started, default=None),
            max(ended, default=None),
            worst.cause,
            worst.facts,
        )
    if states & {BackendState.RUNNING, BackendState.FINISHED}:
        why = next((part.reason for part in parts if part.state is BackendState.RUNNING), NOTHING)
        return RunStatus(BackendState.RUNNING, started_at=min(started, default=None), cause=why.code, facts=why.facts)
    return next((part for part in parts if part.state is BackendState.PENDING), parts[0])


def newest(jobs: Iterable[Job]) -> Job | None:
    """The job submitted last."""
    return max(jobs, key=lambda job: int(job.root) if job.root.isdigit() else -1, default=None)
