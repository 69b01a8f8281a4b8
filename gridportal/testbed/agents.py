"""The telemetry agent of every node, with the depot beside it: the same program as on real clusters, reached by Unix
sockets; a depot is reached from the other nodes, over the shaped links.

The portal is outside the nodes' network namespaces; Unix sockets cross them. gridd listens before the agents run, so
that nobody who asks early is refused, and starts anew those that end.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from gridportal.base import atomic_file
from gridportal.base.errors import ShellError
from gridportal.testbed.layout import Layout
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

_PACKAGES = str(Path(__file__).resolve().parents[2])
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_BACKLOG = 64
_DEPOT_PORT = 7782


class Agents:
    """One agent for each node of `layout`; `holders` gives the processes that hold the nodes, which do not count."""

    def __init__(self, state: State, layout: Layout, spawner: Spawner, holders: Mapping[str, int]) -> None:
        self._state, self._layout, self._spawner, self._holders = state, layout, spawner, holders
        self._listeners: dict[str, socket.socket] = {}
        self._running: dict[str, tuple[int, float]] = {}
        self._pauses: dict[str, float] = {}
        self._held: set[str] = set()
        self._depots: dict[str, socket.socket] = {}

    def listen(self) -> None:
        """Make the key and the sockets, and note where depots will be. OSError when they cannot be made."""
        folder = self._state.agents
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self._state.agent_key, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        way = os.open(folder, os.O_PATH | os.O_DIRECTORY)  # the folder's path may be longer than an address can be
        try:
            for node in self._layout.addresses:
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                listener.bind(f"/proc/self/fd/{way}/{node}.sock")
                listener.listen(_BACKLOG)
                (folder / f"{node}.sock").chmod(0o600)
                self._listeners[node] = listener
        finally:
            os.close(way)
        for left in self._state.depot("").glob("*"):
            if left.name not in self._layout.addresses:
                shutil.rmtree(left)
        depots = {node: self._depot_address(node) for node in self._layout.addresses}
        atomic_file.write(self._state.depots, json.dumps(depots), mode=0o600)

    def _depot_address(self, node: str) -> str:
        """Without namespaces all nodes have one address, so that each depot gets a port that is free now."""
        if self._spawner.shaped:
            return f"{self._layout.addresses[node]}:{_DEPOT_PORT}"
        self._depots[node] = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        return f"127.0.0.1:{self._depots[node].getsockname()[1]}"

    async def start(self) -> None:
        """Start all; others are answered in between."""
        for node in self._layout.addresses:
            self._start(node)
            await asyncio.sleep(0)

    def pids(self) -> dict[str, int]:
        """The agents that run, by node."""
        return {node: pid for node, (pid, _) in self._running.items()}

    def hold(self, node: str) -> None:
        """Let the agent of a node that lost power not start again until it is released."""
        self._held.add(node)

    def release(self, node: str) -> None:
        """The node is back."""
        if node in self._held:
            self._held.discard(node)
            if node not in self._running:
                self._start(node)

    def end(self) -> None:
        """End them all, for good."""
        self._held |= set(self._layout.addresses)
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGKILL)

    def _start(self, node: str) -> None:
        if node in self._held or node in self._running:
            return
        kept = [each[node].fileno() for each in (self._listeners, self._depots) if node in each]
        try:
            process = self._spawner.start(
                node,
                self._argv(node),
                "agent",
                env={"PYTHONPATH": _PACKAGES},
                output=2,
                keep=kept,
                limited=False,
                on_exit=lambda _: self._ended(node),
            )
        except ShellError as error:
            sys.stderr.write(f"{error}\n")
            self._again(node)
            return
        self._running[node] = (process.pid, time.monotonic())

    def _argv(self, node: str) -> list[str]:
        depot = f"fd:{self._depots[node].fileno()}" if node in self._depots else self._depot_address(node)
        shaped = self._spawner.shaped
        address = self._layout.addresses[node] if shaped else "127.0.0.1"
        cpus = str(self._layout.cpus[node])
        return [
            *(sys.executable, "-S", "-m", "gridportal.runtime.agent"),  # -S: nothing but the standard library
            *("--node", node, "--listen", f"fd:{self._listeners[node].fileno()}", "--probe", f"{address}:0"),
            *("--depot", depot, "--depot-folder", str(self._state.depot(node))),
            *("--key-file", str(self._state.agent_key), "--cpus", cpus, "--disk", str(self._state.scratch)),
            *("--scope", "network" if shaped else "marked", "--ignore", str(self._holders[node]), "--nice", "-10"),
        ]

    def _ended(self, node: str) -> None:
        _, since = self._running.pop(node)
        if time.monotonic() - since > _LONGEST_PAUSE:
            self._pauses.pop(node, None)
        self._again(node)

    def _again(self, node: str) -> None:
        pause = self._pauses.get(node, _PAUSE)
        self._pauses[node] = min(_LONGEST_PAUSE, 2 * pause)
        asyncio.get_running_loop().call_later(pause, self._start, node)
