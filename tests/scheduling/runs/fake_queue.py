"""A Slurm in memory behind both apps: the backend's and the telemetry's verbs, no commands. Tests say what happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridportal.base.batch_system import BackendNode, BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError, RefusedError
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.network.topology import Link, Node, Topology
from gridportal.slurm import translation
from gridportal.slurm.nodes import SlurmNode


def _waits(slurm_reason: str, *, held: bool = False) -> RunStatus:
    facts = {"state": NOTHING, "slurm_reason": slurm_reason}
    return RunStatus(BackendState.PENDING, cause=Code.SLURM_WAITS, facts=facts, held=held)


class FakeQueue:
    """`count` nodes n1.. under two switches. A run waits until the test says `begin`."""

    name = "slurm"

    def __init__(self, count: int = 4) -> None:
        self.slurm_nodes = {
            f"n{number}": SlurmNode(
                f"n{number}",
                f"n{number}",
                "10.0.0.1",
                "IDLE",
                cpus=4,
                cpu_load=0.0,
                memory=2**30,
                partitions=("main",),
                features=("small",),
            )
            for number in range(1, count + 1)
        }
        self.until: dict[str, float | None] = {}
        self.specs: dict[str, RunSpec] = {}  # by number
        self.options: dict[str, Any] = {}
        self.status: dict[str, RunStatus] = {}
        self.asked: list[tuple[str, Any]] = []
        self.error: BackendError | None = None
        self._one = threading.Lock()
        self.late = False  # sbatch takes the job and then says that it timed out
        self.chosen: Any = None
        self.offered: dict[str, Any] = {
            "partitions": [{"name": "main", "default": True, "up": True, "max_time": 3600.0, "nodes": count}],
            "reservations": [],
        }

    # the backend's verbs, and those of its queue
    forecast = None

    @property
    def queue(self) -> FakeQueue:
        return self

    def submit(self, spec: RunSpec) -> str:
        self._ask("submit", spec.key)
        with self._one:  # several are submitted at once
            number = self._find(spec.key)
            if number is None:
                number = str(100 + len(self.specs))
                self.specs[number], self.options[number] = spec, self.chosen
                self.status[number] = _waits("None")
        if self.late:
            raise BackendError("sbatch failed: Slurm's controller is too busy to answer; it will be asked again.")
        return number

    def poll(self, ids: Sequence[str]) -> Mapping[str, RunStatus]:
        self._ask("poll", tuple(ids))
        unknown = RunStatus(BackendState.UNKNOWN)
        return {run: self.status.get(self._find(run) or run, unknown) for run in ids}

    def cancel(self, run_id: str) -> None:
        self._ask("cancel", run_id)
        number = self._find(run_id) or run_id
        if number in self.status:
            self.status[number] = RunStatus(BackendState.FINISHED, None, 15, cause=Code.JOB_CANCELLED)

    def cancel_pending(self, run_id: str) -> None:
        self._ask("cancel_pending", run_id)
        if self.status[run_id].state is BackendState.PENDING:
            self.status[run_id] = RunStatus(BackendState.FINISHED, None, 15, cause=Code.JOB_CANCELLED)

    def signal(self, run_id: str, signum: int) -> None:
        self._ask("signal", run_id)

    def hold(self, run_id: str) -> None:
        self._ask("hold", run_id)
        self.status[run_id] = _waits("JobHeldUser", held=True)

    def release(self, run_id: str) -> None:
        self._ask("release", run_id)
        self.status[run_id] = _waits("Priority")

    def requeue(self, run_id: str) -> None:
        self._ask("requeue", run_id)
        self.status[run_id] = RunStatus(BackendState.PENDING, cause=Code.REQUEUED)

    def expedite(self, run_id: str) -> None:
        self._ask("expedite", run_id)

    def why_requeued(self, run_id: str, nodes: Sequence[str], log: Sequence[str]) -> Reason:
        self._ask("why_requeued", run_id)
        return translation.why_requeued(log)

    # the source of telemetry
    def nodes(self) -> list[Any]:
        self._ask("nodes", None)
        return list(self.slurm_nodes.values())

    def offers(self) -> dict[str, Any]:
        return self.offered

    def tree(self) -> Topology:
        names = list(self.slurm_nodes)
        switches = (Node("s1", "network"), Node("s2", "network"))
        links = [Link("s1" if at < 2 else "s2", name, 1e9, 1e9) for at, name in enumerate(names)]
        return Topology("tree", False, "links", (*map(Node, names), *switches), (*links, Link("s1", "s2", 1e8, 1e8)))

    def busy_until(self) -> dict[str, float | None]:
        return self.until

    def version(self) -> tuple[str, str, str]:
        return "fake", "22.05.8", ""

    def backend_nodes(self) -> list[BackendNode]:
        return [BackendNode(node.name, node.hostname, node.address) for node in self.slurm_nodes.values()]

    # what tests make happen
    def busy(self, *names: str, until: float | None = None) -> None:
        """Somebody else's job has all of these nodes."""
        for name in names:
            self.slurm_nodes[name] = replace(self.slurm_nodes[name], state="ALLOCATED", allocated_cpus=4)
            self.until[name] = until

    def close(self, name: str, reason: str) -> None:
        self.slurm_nodes[name] = replace(self.slurm_nodes[name], state="DOWN", reason=reason)

    def begin(self, number: str) -> None:
        self.status[number] = RunStatus(BackendState.RUNNING, started_at=time.time())

    def end(self, number: str, exit_code: int | None = 0, cause: Code = Code.NONE) -> None:
        self.status[number] = RunStatus(BackendState.FINISHED, exit_code, None, time.time(), time.time(), cause)

    def refuse(self, words: str) -> None:
        self.error = RefusedError(words)

    def _find(self, run: str) -> str | None:
        return next((number for number, spec in self.specs.items() if run in (number, spec.key)), None)

    def _ask(self, verb: str, what: Any) -> None:
        self.asked.append((verb, what))
        if self.error is not None:
            raise self.error
