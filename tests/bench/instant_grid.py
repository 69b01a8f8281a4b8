"""A Grid without nodes for load tests: it speaks gridd's protocol, and its programs end at once, or never.

`python -m tests.bench.instant_grid FOLDER NODES SECONDS`: NODES nodes on one switch; a program "runs" for SECONDS, or
for ever where that is `inf`. It counts how often each key was started, so that what ran is known beside what rows say.
"""

from __future__ import annotations

import json
import os
import signal
import socketserver
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any


class Runs:
    """What was started and when; the calls of gridd's client that the portal makes."""

    def __init__(self, nodes: int, seconds: float) -> None:
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        self.seconds = seconds
        self.starts: Counter[str] = Counter()
        self.runs: dict[str, dict[str, Any]] = {}
        self.lock = threading.Lock()

    def status(self, **_: Any) -> dict[str, Any]:
        nodes = [{"id": name, "hostname": name, "address": "10.0.0.1"} for name in self.names]
        return {
            "topology": "load",
            "mode": "instant",
            "warning": None,
            "self_test": {"state": "passed"},
            "nodes": nodes,
            "runs": [],
            "slurm": None,
            "traffic": None,
            "load": {},
        }

    def topology(self, **_: Any) -> dict[str, Any]:
        nodes = [{"id": "switch", "kind": "network"}, *({"id": name} for name in self.names)]
        links = [{"source": name, "target": "switch", "capacity": 1e9, "bandwidth": 1e9} for name in self.names]
        return {"directed": False, "graph": {"name": "load", "kind": "links"}, "nodes": nodes, "links": links}

    def probe(self, **_: Any) -> dict[str, Any]:
        pairs = [
            {"source": a, "target": b, "bandwidth": 9e8, "latency": 1e-4}
            for a, b in zip(self.names, self.names[1:], strict=False)
        ]
        return {"at": time.time(), "seconds": 0.1, "rounds": 1, "bytes": 1, "pairs": pairs, "nodes": self.node_load()}

    def node_load(self, **_: Any) -> list[dict[str, Any]]:
        return [{"id": name, "cpu": 1.0, "load": 0.0, "runnable": 0} for name in self.names]

    def submit(self, key: str, run_dir: str, **_: Any) -> str:
        with self.lock:
            if key in self.runs:
                return key
            self.starts[key] += 1
            self.runs[key] = {"started_at": time.time(), "run_dir": run_dir}
        Path(run_dir, "output.log").write_text("done\n", encoding="utf-8")
        if self.seconds <= 0:
            self._end(self.runs[key])
        return key

    def poll(self, ids: list[str], **_: Any) -> dict[str, dict[str, Any]]:
        return {run: self._state(run) for run in ids}

    def cancel(self, id: str, **_: Any) -> None:
        if run := self.runs.get(id):
            self._end(run)

    def started(self, **_: Any) -> dict[str, int]:
        """How often each key was started."""
        with self.lock:
            return dict(self.starts)

    def _state(self, key: str) -> dict[str, Any]:
        run = self.runs.get(key)
        if run is None:
            return {"state": "unknown"}
        if "ended_at" not in run and time.time() - run["started_at"] >= self.seconds:
            self._end(run)
        if "ended_at" in run:
            return {**run, "state": "finished", "exit_code": 0}
        return {**run, "state": "running"}

    def _end(self, run: dict[str, Any]) -> None:
        run["ended_at"] = time.time()
        result = {"t": run["ended_at"], "event": "result", "verified": True, "seconds": 0.001, "figures": {}}
        Path(run["run_dir"], "progress.jsonl").write_text(json.dumps(result) + "\n", encoding="utf-8")
        record = json.dumps({"exit_code": 0, "ended_at": run["ended_at"]})
        Path(run["run_dir"], "exit.json").write_text(record, encoding="utf-8")


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128
    runs: Runs


class _Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        runs: Runs = self.server.runs  # type: ignore[attr-defined]
        self.wfile.write(json.dumps({"result": getattr(runs, asked.pop("op"))(**asked)}).encode() + b"\n")


def main(folder: Path, nodes: int, seconds: float) -> None:
    """Serve until TERM."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grid.sock").unlink(missing_ok=True)
    where = folder / "grid.sock"
    with _Server(str(where), _Answer) as server:
        server.runs = Runs(nodes, seconds)
        record = {"pid": os.getpid(), "socket": str(where), "topology": "load", "mode": "instant", "warning": None}
        (folder / "grid.json").write_text(json.dumps(record), encoding="utf-8")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
