"""The verbs of gridd: what a client may ask of the Grid, by name, with arguments from JSON."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gridportal.base import checked_numbers, log_limit
from gridportal.base.batch_system import GRACE
from gridportal.base.errors import BackendError, InputError
from gridportal.network.topology import dump
from gridportal.testbed import cgroups, kernel, network, probing, selftest
from gridportal.testbed.agent import Member
from gridportal.testbed.agents import Agents
from gridportal.testbed.foreground import MOST_OUTPUT, Foreground
from gridportal.testbed.generators import Load, Rates, Traffic
from gridportal.testbed.layout import Layout
from gridportal.testbed.load_and_traffic import LoadModel, MessageTraffic
from gridportal.testbed.logs import Logs
from gridportal.testbed.node_limits import NO_LIMITS, NodeLimits
from gridportal.testbed.node_processors import NodeProcessors
from gridportal.testbed.process_owners import Census
from gridportal.testbed.runs import Runs
from gridportal.testbed.sandbox.starter import Starter
from gridportal.testbed.slurm.cluster import Cluster
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

log = logging.getLogger(__name__)

_SAMPLING = 0.2
_VERBS = (
    "status",
    "topology",
    "submit",
    "poll",
    "signal",
    "cancel",
    "probe",
    "node_load",
    "run",
    "load",
    "traffic",
    "load_model",
    "traffic_model",
    "slurm",
    "down",
)


class Service:
    """A Grid that stands. `perform` answers one request; `ended` is set when it shall go down."""

    def __init__(
        self,
        state: State,
        layout: Layout,
        members: Mapping[str, Member],
        groups: Mapping[str, Path],
        mode: str,
        slurm: str = "",
        limits: NodeLimits = NO_LIMITS,
    ) -> None:
        self.state, self.layout, self.mode = state, layout, mode
        self.shaped = mode != "unshaped"
        self.ended = asyncio.Event()
        self.rates = dict(layout.rates)
        self._holders = {name: member.pid for name, member in members.items()}
        namespaces = {n: kernel.open_namespaces(members[n].pid) for n in layout.addresses} if self.shaped else {}
        self.spawner = Spawner(state, list(layout.addresses), namespaces, groups, limits.groups)
        for name, pid in self._holders.items():
            self.spawner.expect(pid, partial(self._lost, name))
        spaces = {kernel.space_inode(fds["net"]): name for name, fds in namespaces.items()}
        self._census = Census(str(state.root), layout.cpus, spaces, [1, *self._holders.values()])
        parts = cgroups.parts(self._speeds(), layout.cpus, len(os.sched_getaffinity(0)))
        processors = NodeProcessors(dict(groups), layout.cpus, parts)
        self._starter = Starter(state, self.spawner, limits, processors)
        self._logs = Logs(log_limit.from_environment())
        self._runs = Runs(state, self.spawner, self._starter, self._logs)
        self._prober = probing.Prober(layout, members, shaped=self.shaped)
        self._traffic = Traffic(layout, self._shape)
        self._load = Load(self.spawner, processors)
        self._load_model = LoadModel(self._load, tuple(layout.addresses))
        places = layout.addresses if self.shaped else dict.fromkeys(layout.addresses, "127.0.0.1")
        self._messages = MessageTraffic(self.spawner, {n: (at, members[n].port) for n, at in places.items()})
        self._outputs = Logs(MOST_OUTPUT)
        self._foreground = Foreground(self.spawner, state, self._outputs)
        accounting = slurm == "accounting"
        self._slurm = Cluster(state, layout, self.spawner, self._everyone, accounting=accounting) if slurm else None
        self._agents = Agents(state, layout, self.spawner, self._holders)
        self._cgroups = dict(groups)
        self._up_since = time.time()
        self._self_test: dict[str, Any] = {"state": "pending", "message": "It is running.", "links": []}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Start sampling, and the test of itself; agents are listened for, and start when the test is over."""
        self.spawner.reap()  # a node's process may have ended before anybody heard of such ends
        self._agents.listen()
        work = (self._sample(), self._test(), self._logs.watch(), self._outputs.watch())
        self._tasks = [asyncio.create_task(each) for each in work]

    def _lost(self, node: str, status: int) -> None:
        """A node without the process that holds it cannot be measured or mended: the Grid ends, to be built anew."""
        log.error("The process of node %s ended (wait status %s), so the Grid ends; bring it up again.", node, status)
        self.ended.set()

    async def end(self) -> None:
        """End the tasks; the processes end with their namespace, or by their marks where there is none."""
        for task in self._tasks:
            task.cancel()
        if not self.shaped:
            await self._load_model.stop()
            self._messages.stop()
            self._load.stop(None)
            self._runs.end_all()
            self._foreground.end_all()
            self._agents.end()

    async def perform(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        """The answer to one request, as JSON can carry it. InputError for an unknown verb."""
        if verb not in _VERBS:
            raise InputError("op", verb, "one of " + ", ".join(_VERBS))
        answer = getattr(self, verb)(**arguments)
        return await answer if asyncio.iscoroutine(answer) else answer

    def status(self) -> dict[str, Any]:
        """Everything about the Grid at a glance."""
        pids = self._census.by_node()
        return {
            "topology": self.layout.topology.name,
            "kind": self.layout.topology.kind,
            "mode": self.mode,
            "cgroups": bool(self._cgroups),
            "processor": self._reference_share() if self._cgroups else 1.0,
            "isolation": self._starter.view(),
            "self_test": self._self_test,
            "up_since": self._up_since,
            "nodes": [self._node_view(entry, pids) for entry in self.node_load()],
            "runs": self._runs.views(),
            "traffic": self._traffic.view(),
            "load": self._load.view(),
            "load_model": self._load_model.view(),
            "traffic_model": self._messages.view(),
            "agents": len(self._agents.pids()),
            "slurm": self._slurm.view() if self._slurm else None,
        }

    def topology(self) -> dict[str, Any]:
        """The node-link document with the shaping of this moment."""
        document = dump(self.layout.topology)
        for link in document["links"]:
            link["bandwidth"] = self.rates[link["source"], link["target"]]
        cpu = {entry["id"]: entry["cpu"] for entry in self.node_load()}
        for node in document["nodes"]:
            node["cpu"] = cpu.get(node["id"], node["cpu"])
        return document

    def node_load(self) -> list[dict[str, Any]]:
        """Of each node its processors, the smoothed runnable processes for each of these, and the processor that one
        more would get."""
        census = self._census
        return [
            {"id": n, "cpu": census.cpu(n), "load": census.load[n], "runnable": census.runnable[n], "cpus": cpus}
            for n, cpus in self.layout.cpus.items()
        ]

    def submit(
        self,
        key: str,
        script: str,
        nodes: list[str],
        run_dir: str,
        time_limit: float | None = None,
        owner: str = "",
        until: float | None = None,
        job_dir: str = "",
        grace: float = GRACE,
        memory_per_rank: int | None = None,
        cpus_per_rank: int = 1,
    ) -> str:
        """Start a run, once, as the user that `owner` has here; not after `until` (by the monotonic clock)."""
        if until is not None and time.monotonic() > until:
            raise BackendError(f"{key} was handed over too slowly: nobody waits for the answer any more.")
        needs = (memory_per_rank, cpus_per_rank)
        return self._runs.submit(key, script, nodes, run_dir, time_limit, owner, job_dir, grace, *needs)

    def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """The states of runs."""
        return self._runs.poll(ids)

    def signal(self, id: str, signum: int) -> None:
        """Signal the script of a run."""
        self._runs.signal(id, signum)

    def cancel(self, id: str) -> None:
        """End a run as a whole."""
        self._runs.cancel(id)

    async def probe(
        self, nodes: list[str] | None = None, size: int = probing.SIZE, seconds: float = probing.SECONDS
    ) -> dict[str, Any]:
        """One sweep of measured transfers, and the nodes' available processors."""
        for name in nodes or []:
            self.spawner.check(name)
        checked_numbers.whole("size", size, 1, probing.MOST_BYTES)
        checked_numbers.above_zero("seconds", seconds, probing.LONGEST)
        # A client that goes away must not leave answers of the agents behind for the next sweep.
        report = await asyncio.shield(self._prober.sweep(list(nodes or self.layout.addresses), size, seconds))
        return {**report, "nodes": self.node_load()}

    async def run(self, nodes: list[str], argv: list[str], timeout: float, cwd: str = "/") -> list[dict[str, Any]]:
        """Run a command on nodes, to its end; the exit code and output of each."""
        return await self._foreground.run(nodes, argv, timeout, cwd)

    async def load(
        self, nodes: list[str] | None, processes: int = 1, seconds: float | None = None, stop: bool = False
    ) -> dict[str, int]:
        """Start busy processes on nodes, or stop them."""
        if stop:
            self._load.stop(nodes)
            return self._load.view()
        return await self._load.start(list(nodes or []), processes, seconds)

    async def traffic(
        self,
        seed: int = 0,
        time_scale: float = 1.0,
        streams: int = 0,
        seconds: float | None = None,
        stop: bool = False,
    ) -> dict[str, Any] | None:
        """Replay the traffic model, or stop it: as a whole, even when the client goes away meanwhile."""
        if stop:
            await asyncio.shield(self._traffic.stop())
            return None
        return await asyncio.shield(self._traffic.start(seed, time_scale, streams, seconds))

    async def load_model(
        self, seed: int = 0, model: Mapping[str, Any] | None = None, stop: bool = False
    ) -> dict[str, Any] | None:
        """Let compute jobs come to the nodes and go, or end that."""
        if stop:
            await self._load_model.stop()
            return None
        return await self._load_model.start(seed, model)

    async def traffic_model(
        self, seed: int = 0, model: Mapping[str, Any] | None = None, stop: bool = False
    ) -> dict[str, Any] | None:
        """Send messages between the nodes, or end that."""
        if stop:
            self._messages.stop()
            return None
        return await self._messages.start(seed, model)

    async def slurm(self, action: str, what: str, node: str | None = None) -> dict[str, Any]:
        """Kill, restart, freeze or thaw a part of the Slurm on this Grid."""
        if self._slurm is None:
            raise BackendError("No Slurm runs on this Grid; bring one up: gridportal testbed up TOPOLOGY --slurm.")
        if what == "node" and node and action == "kill":
            self._agents.hold(node)
        view = await self._slurm.act(action, what, node)
        if what == "node" and node and action == "restart":
            self._agents.release(node)
        return view

    def down(self) -> None:
        """End the Grid once this answer is out."""
        asyncio.get_running_loop().call_later(0.02, self.ended.set)

    async def _shape(self, rates: Rates) -> None:
        if self.shaped:
            await network.apply_rates(self.layout, self._holders, rates, self.spawner)
        self.rates |= rates

    def _node_view(self, entry: dict[str, Any], pids: Mapping[str, list[int]]) -> dict[str, Any]:
        name = entry["id"]
        address = self.layout.addresses[name] if self.shaped else "127.0.0.1"
        hostname = name if self.shaped else socket.gethostname()
        return {**entry, "hostname": hostname, "address": address, "pids": len(pids[name])}

    def _everyone(self) -> dict[str, list[int]]:
        """The processes of each node, its agent among them."""
        agents = self._agents.pids()
        return {n: [*pids, *([agents[n]] if n in agents else [])] for n, pids in self._census.by_node().items()}

    def _speeds(self) -> dict[str, float]:
        return {node.id: node.speed for node in self.layout.topology.compute_nodes()}

    def _reference_share(self) -> float:
        """The part of a core of this machine that a processor of speed 1 is."""
        return cgroups.reference_share(self._speeds(), self.layout.cpus, len(os.sched_getaffinity(0)))

    async def _sample(self) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(_SAMPLING)
            now = time.monotonic()
            self._census.agents = self._agents.pids()
            self._census.sample(now - last)
            last = now

    async def _test(self) -> None:
        await self._starter.test(next(iter(self.layout.addresses)))
        if self._slurm:
            await self._slurm.start()  # Before the test: a busy machine looks slow.
        found = await selftest.test(self.layout, self._holders, self._foreground, shaped=self.shaped)
        try:
            cgroups.limit(self._cgroups, self._speeds(), self.layout.cpus, len(os.sched_getaffinity(0)))
        except OSError as error:
            found = {**found, "state": "failed", "message": f"The nodes' speeds cannot be set: {error.strerror}."}
        self._self_test = found
        await self._agents.start()  # Now that the test is over: starting Python ten times makes a machine busy.
