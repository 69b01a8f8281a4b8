"""The Grid as everyone else sees it: the portal's adapter, the command line and the tests use this client of gridd."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gridportal.base import checked_numbers
from gridportal.base.batch_system import GRACE
from gridportal.testbed import grid_status, gridd_requests
from gridportal.testbed.gridd_requests import QUICK
from gridportal.testbed.slurm import place
from gridportal.testbed.state import State

_SWEEP = 300.0  # also of traffic: on a busy machine each link may take seconds to change


class Grid:
    """A Grid by its state directory. Every call opens a connection of its own, so it may be shared by threads.

    Raises BackendError in one sentence when the Grid is not up or refuses, InputError for a value it does not accept.
    """

    def __init__(self, state_dir: str | Path) -> None:
        self._state = State(state_dir)

    @property
    def directory(self) -> Path:
        """The state directory, absolute."""
        return self._state.root

    def status(self) -> dict[str, Any]:
        """topology, mode, warning, isolation, self_test, up_since, nodes, runs, traffic, load."""
        return grid_status.of(self._state)

    def topology(self) -> dict[str, Any]:
        """The node-link document with the shaping of this moment: the truth, for tests and people."""
        document: dict[str, Any] = self._ask("topology")
        return document

    def submit(
        self,
        key: str,
        script: str,
        nodes: Sequence[str],
        run_dir: str | Path,
        time_limit: float | None = None,
        owner: str = "",
        job_dir: str | Path = "",
        grace: float = GRACE,
        memory_per_rank: int | None = None,
        cpus_per_rank: int = 1,
    ) -> str:
        """Start bash text on the first of `nodes` (rank order), at most once per key; returns the id (the key). Raises
        LaterError where the Grid has no room for it now, nothing is started then.

        It runs as the user of `owner`, where the Grid was started by root, and sees nobody else's files. `job_dir`: a
        folder beside its run directory that it may fill, too. `memory_per_rank`: MB of 2**20 bytes; on each node the
        run may take as much as its ranks there have together, files in /tmp and /dev/shm among it; None: no limit of
        its own. `cpus_per_rank`: processors, where nodes have several that are parts of a core of this machine.
        """
        arguments: dict[str, Any] = {
            "key": key,
            "script": script,
            "nodes": list(nodes),
            "run_dir": str(run_dir),
            "owner": owner,
        }
        arguments |= {"job_dir": str(job_dir)} if job_dir else {}
        arguments |= {"grace": grace} if grace != GRACE else {}
        arguments |= {"memory_per_rank": memory_per_rank} if memory_per_rank is not None else {}
        arguments |= {"cpus_per_rank": cpus_per_rank} if cpus_per_rank != 1 else {}
        until = time.monotonic() + QUICK  # nobody waits for it after that, and who polls then is told the truth
        return str(self._ask("submit", {**arguments, "time_limit": time_limit, "until": until}, timeout=QUICK))

    def poll(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """By id: state (running, finished, unknown), exit_code, signal, started_at, ended_at, reason, cause, limit."""
        states: dict[str, dict[str, Any]] = self._ask("poll", {"ids": list(ids)})
        return states

    def signal(self, id: str, signum: int) -> None:
        """Send a signal to the script of a run, and to nothing that it has started."""
        self._ask("signal", {"id": id, "signum": int(signum)})

    def cancel(self, id: str) -> None:
        """TERM to every process of a run, KILL after its grace, two seconds unless `submit` was told another."""
        self._ask("cancel", {"id": id})

    def probe(
        self, nodes: Sequence[str] | None = None, size: int | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """Measure every ordered pair by a transfer of at most `size` bytes and about `seconds` seconds.

        {"at", "seconds", "rounds", "bytes", "pairs": [{"source", "target", "bandwidth" bit/s, "latency" s}],
        "together": [{"source", "target", "bandwidth", "filled"}] of links that single transfers cannot tell of,
        "nodes": [{"id", "cpu", "load", "runnable"}]}
        """
        arguments: dict[str, Any] = {"nodes": list(nodes) if nodes else None}
        arguments |= {"size": size} if size is not None else {}
        arguments |= {"seconds": seconds} if seconds is not None else {}
        report: dict[str, Any] = self._ask("probe", arguments, timeout=_SWEEP)
        return report

    def node_load(self) -> list[dict[str, Any]]:
        """[{"id", "cpu" = 1/(1+load), "load" (smoothed), "runnable" (now)}]"""
        loads: list[dict[str, Any]] = self._ask("node_load")
        return loads

    def run(
        self, nodes: Sequence[str], argv: Sequence[str], timeout: float = 60.0, cwd: str | None = None
    ) -> list[dict[str, Any]]:
        """Run a command on each node (an mpiexec once, over all); [{"node", "exit_code", "output"}]."""
        checked_numbers.above_zero("timeout", timeout)  # here too: a socket cannot wait that long
        arguments = {"nodes": list(nodes), "argv": list(argv), "timeout": timeout, "cwd": cwd or str(Path.cwd())}
        done: list[dict[str, Any]] = self._ask("run", arguments, timeout=timeout + QUICK)
        return done

    def load(
        self,
        nodes: Sequence[str] | None = None,
        processes: int = 1,
        seconds: float | None = None,
        stop: bool = False,
    ) -> dict[str, int]:
        """Start busy processes on nodes, or stop those of `nodes` (None: all); how many each node has now."""
        arguments = {"nodes": list(nodes) if nodes else None, "processes": processes, "seconds": seconds}
        busy: dict[str, int] = self._ask("load", {**arguments, "stop": stop})
        return busy

    def traffic(
        self,
        seed: int = 0,
        time_scale: float = 1.0,
        streams: int = 0,
        seconds: float | None = None,
        stop: bool = False,
    ) -> dict[str, Any] | None:
        """Replay the traffic model of Pattern 2003, 3.3, `streams` of them at once at the start; or stop it."""
        arguments = {"seed": seed, "time_scale": time_scale, "streams": streams, "seconds": seconds}
        about: dict[str, Any] | None = self._ask("traffic", {**arguments, "stop": stop}, timeout=_SWEEP)
        return about

    def load_model(
        self, seed: int = 0, model: Mapping[str, float] | None = None, stop: bool = False
    ) -> dict[str, Any] | None:
        """Replay compute jobs that come to every node and go (Selection 1999, 4.2); or end them all.

        `model`: parameters of gridportal.testbed.arrivals.JobModel that are not to have their defaults.
        """
        about: dict[str, Any] | None = self._ask("load_model", {"seed": seed, "model": dict(model or {}), "stop": stop})
        return about

    def traffic_model(
        self, seed: int = 0, model: Mapping[str, float] | None = None, stop: bool = False
    ) -> dict[str, Any] | None:
        """Replay messages between random nodes as real TCP transfers (Selection 1999, 4.2); or end them all.

        `model`: parameters of gridportal.testbed.arrivals.MessageModel that are not to have their defaults.
        """
        arguments = {"seed": seed, "model": dict(model or {}), "stop": stop}
        about: dict[str, Any] | None = self._ask("traffic_model", arguments)
        return about

    def slurm_info(self) -> dict[str, Any] | None:
        """How to reach the Slurm of this Grid; None when it has none.

        {"prefix": [SCRIPT] to put before Slurm's commands, "conf": slurm.conf as seen from here, "home": logs, "state":
        starting | up | failed, "message", "accounting": bool, "cluster": "grid", "partitions": [...],
        "daemons": [{"name", "state": running | frozen | ended, "pid"}]}
        """
        view = self._ask("status")["slurm"]
        if view is None:
            return None
        home = place.folder(self._state)
        where = {"prefix": [str(place.way_in(self._state))], "conf": str(home / "slurm.conf"), "home": str(home)}
        return {**view, **where, "cluster": "grid", "partitions": ["grid", "short", "urgent"]}

    def slurm(self, action: str, what: str, node: str | None = None) -> dict[str, Any]:
        """`action` kill, restart, freeze or thaw; `what` ctld, munge, dbd, db, or slurmd or node (with its name).

        `slurmd` is the daemon alone: jobs go on. `node` is all that runs there, as when it loses power. Returns the
        view of `slurm_info` without the places.
        """
        view: dict[str, Any] = self._ask("slurm", {"action": action, "what": what, "node": node})
        return view

    def down(self) -> None:
        """Take the Grid down, or clean up after one that crashed. No error when there is none."""
        from gridportal.testbed import launch  # which reads topologies, and most who ask need not wait for that

        launch.down(self._state)

    def _ask(self, op: str, arguments: Mapping[str, Any] | None = None, timeout: float = QUICK) -> Any:
        return gridd_requests.ask(self._state, op, arguments, timeout)
