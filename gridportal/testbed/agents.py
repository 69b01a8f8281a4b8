"""The telemetry agent of every node: the same program as on real clusters, reached by Unix sockets.

The portal is outside the nodes' network namespaces; Unix sockets cross them. gridd listens before the agents run, so
that nobody who asks early is refused, and starts anew those that end.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from gridportal.base.errors import ShellError
from gridportal.testbed.layout import Layout
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

_PACKAGES = str(Path(__file__).resolve().parents[2])
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_BACKLOG = 64


class Agents:
    """One agent for each node of `layout`; `holders` gives the processes that hold the nodes, which do not count."""

    def __init__(self, state: State, layout: Layout, spawner: Spawner, holders: Mapping[str, int]) -> None:
        self._state, self._layout, self._spawner, self._holders = state, layout, spawner, holders
        self._listeners: dict[str, socket.socket] = {}
        self._running: dict[str, tuple[int, float]] = {}
        self._pauses: dict[str, float] = {}
        self._held: set[str] = set()

    def listen(self) -> None:
        """Make the key and the sockets. OSError when they cannot be made."""
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
        listener = self._listeners[node]
        try:
            process = self._spawner.start(
                node,
                self._argv(node, listener.fileno()),
                "agent",
                env={"PYTHONPATH": _PACKAGES},
                output=2,
                keep=(listener.fileno(),),
                limited=False,
                on_exit=lambda _: self._ended(node),
            )
        except ShellError as error:
            sys.stderr.write(f"{error}\n")
            self._again(node)
            return
        self._running[node] = (process.pid, time.monotonic())

    def _argv(self, node: str, descriptor: int) -> list[str]:
        shaped = self._spawner.shaped
        address = self._layout.addresses[node] if shaped else "127.0.0.1"
        cpus = str(self._layout.cpus[node])
        return [
            *(sys.executable, "-S", "-m", "gridportal.runtime.agent"),  # -S: nothing but the standard library
            *("--node", node, "--listen", f"fd:{descriptor}", "--probe", f"{address}:0"),
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
