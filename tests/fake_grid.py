"""A Grid in memory: the client's interface, no processes. Tests say when a run ends and what it wrote."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError


class FakeGrid:
    """`count` nodes n1.. on a crossbar of 100 Mbit/s; `rates` overrides what is measured of a directed pair."""

    def __init__(self, count: int = 4, name: str = "fake") -> None:
        self.names = [f"n{number}" for number in range(1, count + 1)]
        self.name = name
        self.rates: dict[tuple[str, str], float] = {}
        self.cpus: dict[str, float] = {}
        self.loads: dict[str, float] = {}
        self.labels: dict[str, dict[str, str]] = {}
        self.down = False
        self.submitted: list[str] = []  # keys in the order they were really started
        self.signals: list[tuple[str, int]] = []  # run and number, in their order
        self.on_nodes: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.runs: dict[str, dict[str, Any]] = {}
        self.refuse = ""

    def status(self) -> dict[str, Any]:
        self._ask("status")
        return {
            "topology": self.name,
            "mode": "user-namespaces",
            "warning": None,
            "self_test": {},
            "nodes": [{"id": name, "hostname": name, "address": "10.0.0.1"} for name in self.names],
            "runs": [],
        }

    def topology(self) -> dict[str, Any]:
        self._ask("topology")
        return {
            "directed": True,
            "graph": {"name": self.name, "kind": "pairs"},
            "nodes": [{"id": name, **self.labels.get(name, {})} for name in self.names],
            "links": [
                {"source": a, "target": b, "capacity": 100e6, "bandwidth": 1.0}
                for a in self.names
                for b in self.names
                if a != b
            ],
        }

    def probe(self, nodes: Sequence[str] | None = None) -> dict[str, Any]:
        self._ask("probe")
        names = nodes or self.names
        pairs = [
            {"source": a, "target": b, "bandwidth": self.rates.get((a, b), 90e6), "latency": 1e-4}
            for a in names
            for b in names
            if a != b
        ]
        return {"at": time.time(), "seconds": 0.1, "rounds": 1, "bytes": 1, "pairs": pairs, "nodes": self._loads()}

    def node_load(self) -> list[dict[str, Any]]:
        self._ask("node_load")
        return self._loads()

    def submit(
        self,
        key: str,
        script: str,
        nodes: list[str],
        run_dir: str,
        time_limit: float | None = None,
        owner: str = "",
        job_dir: str = "",
        grace: float = 2.0,
        memory_per_rank: int | None = None,
        cpus_per_rank: int = 1,
    ) -> str:
        self._ask("submit")
        if self.refuse:
            raise BackendError(self.refuse)
        if key not in self.runs:
            self.submitted.append(key)
            self.on_nodes[key] = list(nodes)
            self.runs[key] = {"state": "running", "started_at": time.time(), "run_dir": run_dir, "job_dir": job_dir}
            Path(run_dir, "output.log").write_text("hello\n", encoding="utf-8")
        return key

    def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        self._ask("poll")
        return {run: dict(self.runs.get(run, {"state": "unknown"})) for run in ids}

    def signal(self, id: str, signum: int) -> None:
        self._ask("signal")
        self.signals.append((id, signum))

    def cancel(self, id: str) -> None:
        self._ask("cancel")
        if id in self.runs and self.runs[id]["state"] == "running":
            self.end(id, exit_code=143)

    def end(self, key: str, exit_code: int = 0, *, record: bool = True, **fields: Any) -> None:
        """A run ends; `record` says whether its script still wrote exit.json."""
        run = self.runs[key]
        run |= {"state": "finished", "exit_code": exit_code, "ended_at": time.time(), **fields}
        if record:
            text = json.dumps({"exit_code": exit_code, "ended_at": time.time()})
            Path(run["run_dir"], "exit.json").write_text(text, encoding="utf-8")

    def write(self, key: str, *events: dict[str, Any] | str, newline: bool = True) -> None:
        """Append lines to the run's progress file."""
        lines = [event if isinstance(event, str) else json.dumps({"t": time.time(), **event}) for event in events]
        with Path(self.runs[key]["run_dir"], "progress.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + ("\n" if newline else ""))

    def restart(self) -> None:
        """It comes up again and remembers nothing."""
        self.runs.clear()
        self.down = False

    def _loads(self) -> list[dict[str, Any]]:
        return [
            {"id": name, "cpu": self.cpus.get(name, 1.0), "load": self.loads.get(name, 0.0), "runnable": 0}
            for name in self.names
        ]

    def _ask(self, op: str) -> None:
        self.asked.append(op)
        if self.down:
            raise BackendError(f"No Grid is up ({op}).")
