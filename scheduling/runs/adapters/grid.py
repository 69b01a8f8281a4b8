"""The emulated Grid as a backend."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from gridportal.base.batch_system import GRACE, BackendNode, BackendState, RunSpec, RunStatus
from gridportal.base.reasons import Code, Reason, text_reason

log = logging.getLogger(__name__)

#: The Grid's words for a run, and ours.
STATES = {
    "pending": BackendState.PENDING,
    "running": BackendState.RUNNING,
    "finished": BackendState.FINISHED,
    "unknown": BackendState.UNKNOWN,
}
#: The Grid's words for why a run ended; with time_limit goes the limit in seconds.
CAUSES = {"cancelled": Code.STOPPED_THERE, "lost": Code.GRID_ENDED, "out_of_memory": Code.OUT_OF_MEMORY}


class GridClient(Protocol):
    """The part of gridportal.testbed.client.Grid that this adapter needs."""

    def status(self) -> dict[str, Any]: ...
    def submit(
        self,
        key: str,
        script: str,
        nodes: list[str],
        run_dir: str,
        time_limit: float | None,
        owner: str,
        job_dir: str = "",
        grace: float = GRACE,
        memory_per_rank: int | None = None,
        cpus_per_rank: int = 1,
    ) -> str: ...
    def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]: ...
    def signal(self, id: str, signum: int) -> None: ...
    def cancel(self, id: str) -> None: ...


class GridBackend:
    """Runs on the emulated Grid through its client; a method raises BackendError when the Grid is down."""

    name = "grid"
    queue = None
    forecast = None

    def __init__(self, grid: GridClient) -> None:
        self._grid = grid

    def submit(self, spec: RunSpec) -> str:
        """Hand the script to the Grid; the same key is started once only."""
        nodes, limit, owner = list(spec.nodes), spec.time_limit, spec.owner
        more = (spec.job_dir, spec.grace, spec.memory_per_rank, spec.cpus_per_rank)
        return self._grid.submit(spec.key, spec.script, nodes, spec.run_dir, limit, owner, *more)

    def poll(self, ids: Sequence[str]) -> Mapping[str, RunStatus]:
        """All ids in one round trip."""
        if not ids:
            return {}
        answers = self._grid.poll(list(ids))
        return {run_id: _status(run_id, answers.get(run_id, {"state": "unknown"})) for run_id in ids}

    def signal(self, run_id: str, signum: int) -> None:
        """Send `signum` to the run's batch script alone."""
        self._grid.signal(run_id, signum)

    def cancel(self, run_id: str) -> None:
        """TERM, then KILL for every process of the run."""
        self._grid.cancel(run_id)

    def nodes(self) -> list[BackendNode]:
        """The compute nodes of the topology that the Grid was built from."""
        return [
            BackendNode(str(node["id"]), str(node.get("hostname", node["id"])), str(node.get("address", "")))
            for node in self._grid.status()["nodes"]
        ]


def connect(state_dir: Path) -> GridBackend:
    """The backend for the Grid whose socket is in `state_dir`; nothing is asked of it yet."""
    from gridportal.testbed.client import Grid

    return GridBackend(Grid(state_dir))


def _status(run_id: str, answer: Mapping[str, Any]) -> RunStatus:
    word = str(answer.get("state"))
    state = STATES.get(word)
    if state is None:
        log.warning("The Grid says %r of %s, a word that is not known here.", word, run_id)
        state = BackendState.UNKNOWN
    why = _why(answer)
    return RunStatus(
        state=state,
        exit_code=answer.get("exit_code"),
        signal=answer.get("signal"),
        started_at=answer.get("started_at"),
        ended_at=answer.get("ended_at"),
        cause=why.code,
        facts=why.facts,
    )


def _why(answer: Mapping[str, Any]) -> Reason:
    """Its cause; what a program's starter said, and a Grid of an earlier version, is told as it stands."""
    cause, text = str(answer.get("cause") or ""), str(answer.get("reason") or "")
    if cause == "time_limit" and isinstance(limit := answer.get("limit"), int | float):
        return Reason.of(Code.OVER_TIME_LIMIT, limit=limit)
    return Reason.of(CAUSES[cause]) if cause in CAUSES else text_reason(text)
