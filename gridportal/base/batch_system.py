"""What every backend does: five verbs, the words that they answer in, and the parts that only some have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from gridportal.base.reasons import Code, Reason

#: Seconds between TERM and KILL for a program that has nothing to save.
GRACE = 2.0


class BackendState(StrEnum):
    """Where a run is, as its backend sees it. UNKNOWN: the backend has never heard of it, or forgot."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What to start. `key` makes submission idempotent; `nodes` rank by rank, a node once for each of its ranks;
    `time_limit` in seconds; `owner`: for whom, where the backend itself decides as which user that runs.

    What each rank needs, where the backend gives such things to jobs: processors, `memory_per_rank` in MB of 2**20
    bytes, and `gres_per_rank` as gpu:1. `job_dir`: a folder of its job that lives over all its runs, empty for none.
    `grace`: seconds between TERM and KILL, where the backend itself does not say; on Slurm they are its KillWait.
    `finds_nodes`: whether what starts its ranks asks the cluster for its nodes, and is not told them (srun)."""

    key: str
    script: str
    nodes: tuple[str, ...]
    run_dir: str
    time_limit: float | None = None
    owner: str = ""
    cpus_per_rank: int = 1
    memory_per_rank: int | None = None
    gres_per_rank: str = ""
    job_dir: str = ""
    grace: float = GRACE
    finds_nodes: bool = False


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How a run is. Times are Unix seconds; `cause` with its `facts`: why, e.g. a time limit, and which.

    Of a pending run: `expected_start` where the backend foresees one, `held`, when someone has to release it,
    `restarts`, how often it was put back into the queue, `delayed`, when since then only an earliest start keeps
    it there, and `unavailable`, when it waits for nodes that may take no jobs at all.
    """

    state: BackendState
    exit_code: int | None = None
    signal: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    cause: Code = Code.NONE
    facts: Mapping[str, Any] = field(default_factory=dict)
    expected_start: float | None = None
    held: bool = False
    restarts: int = 0
    delayed: bool = False
    unavailable: bool = False

    @property
    def reason(self) -> Reason:
        """The cause and its facts as one value."""
        return Reason.of(self.cause, **self.facts)


@dataclass(frozen=True, slots=True)
class BackendNode:
    """A node as the backend names it."""

    name: str
    hostname: str
    address: str


class Queue(Protocol):
    """What can be done with a run that waits in a queue of the cluster's own. BackendError when it cannot be."""

    def hold(self, run_id: str) -> None:
        """Keep a waiting run from starting."""

    def release(self, run_id: str) -> None:
        """Let a held run start."""

    def requeue(self, run_id: str) -> None:
        """Stop a running run and put it back into the queue under its own id."""

    def expedite(self, run_id: str) -> None:
        """Let a requeued run start as soon as its nodes are free."""

    def cancel_pending(self, run_id: str) -> None:
        """Take a waiting run out of the queue; nothing happens to one that has started."""

    def why_requeued(self, run_id: str, nodes: Sequence[str], log: Sequence[str]) -> Reason:
        """Why the last attempt of a requeued run on `nodes` ended, of whose log these are the last lines; none where
        nobody knows."""


class StartForecast(Protocol):
    """What a backend says of runs that nobody has submitted yet."""

    def expected_start(self, spec: RunSpec, *, timeout: float | None = None) -> float | None:
        """When `spec` would start if it were submitted now, in Unix seconds; None when the backend does not tell.
        RefusedError where a submission would be refused, BackendError after `timeout` seconds."""


class Backend(Protocol):
    """A place where runs run. Every verb raises BackendError in one sentence when it cannot be reached.

    `queue` and `forecast` are parts that it has or has not; what is true of it without asking is in `traits`.
    """

    name: str

    @property
    def queue(self) -> Queue | None:
        """Its queue; None where runs start at once."""

    @property
    def forecast(self) -> StartForecast | None:
        """Who foresees starts; None where nobody does."""

    def submit(self, spec: RunSpec) -> str:
        """Start `spec` unless its key was started before; the id to poll by."""

    def poll(self, ids: Sequence[str]) -> Mapping[str, RunStatus]:
        """The status of each id, in one question to the backend; UNKNOWN where it knows nothing."""

    def signal(self, run_id: str, signum: int) -> None:
        """Send a signal to the run's batch script alone: USR1 asks its program to stop, USR2 for a checkpoint where
        that is known how. Nothing happens when it has ended."""

    def cancel(self, run_id: str) -> None:
        """Stop the run: politely, then by force. Nothing happens when it has ended."""

    def nodes(self) -> list[BackendNode]:
        """The compute nodes."""
