"""The load and traffic models of Selection 1999, 4.2, as they run on the Grid: real processes, real TCP transfers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from gridportal.base import checked_numbers
from gridportal.base.errors import GridPortalError, InputError
from gridportal.testbed import arrivals
from gridportal.testbed.generators import Load
from gridportal.testbed.spawn import Spawner

_PACKAGES = str(Path(__file__).resolve().parents[2])
_MOST_SEED = 2**31
_START = 1.0  # seconds in which the senders of all nodes come up
Model = TypeVar("Model", arrivals.JobModel, arrivals.MessageModel)


def model(kind: type[Model], given: Mapping[str, Any] | None) -> Model:
    """The model with some of its parameters replaced. InputError for unknown names and values that are not above 0.

    >>> model(arrivals.JobModel, {"gap": 6.0}).gap
    6.0
    """
    names = [field.name for field in fields(kind)]
    for name, value in (given or {}).items():
        if name not in names:
            raise InputError("model", name, "some of " + ", ".join(names))
        checked_numbers.above_zero(name, value, 1e12, "a number")
    return kind(**dict(given or {}))


class LoadModel:
    """Compute jobs that come to every node and go, each a busy process; `load` starts and ends them."""

    def __init__(self, load: Load, nodes: tuple[str, ...]) -> None:
        self._load, self._nodes = load, nodes
        self._task: asyncio.Task[None] | None = None
        self._about: dict[str, Any] = {}

    def view(self) -> dict[str, Any] | None:
        """What is being replayed; None when nothing is."""
        return dict(self._about) if self._task and not self._task.done() else None

    async def start(self, seed: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Replace what is being replayed; the jobs of the beginning are there when this returns."""
        chosen = model(arrivals.JobModel, given)
        checked_numbers.whole("seed", seed, 0, _MOST_SEED)
        await self.stop()
        self._about = {"seed": seed, "model": asdict(chosen), "since": time.time()}
        there = asyncio.Event()
        self._task = asyncio.create_task(self._replay(seed, chosen, there))
        await there.wait()
        if self._task.done():
            self._task.result()  # why it could not begin
        return dict(self._about)

    async def stop(self) -> None:
        """End the replay, and every busy process with it."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, GridPortalError, OSError):
                await self._task
            self._task = None
            self._load.stop(None)

    async def _replay(self, seed: int, chosen: arrivals.JobModel, there: asyncio.Event) -> None:
        begin = time.monotonic()
        try:
            for job in arrivals.jobs(seed, self._nodes, chosen):
                if job.at > 0:
                    there.set()
                await asyncio.sleep(max(0.0, begin + job.at - time.monotonic()))
                left = begin + job.at + job.length - time.monotonic()
                # A full node takes no more: the model has no end, the machine has.
                with contextlib.suppress(InputError):
                    await self._load.start([job.node], 1, max(0.01, left))
        finally:
            there.set()


class MessageTraffic:
    """Messages between random nodes: each node's sender draws the same sequence and sends its own part of it."""

    def __init__(self, spawner: Spawner, places: Mapping[str, tuple[str, int]]) -> None:
        self._spawner, self._places = spawner, dict(places)
        self._senders: dict[str, int] = {}
        self._about: dict[str, Any] = {}

    def view(self) -> dict[str, Any] | None:
        """What is being sent; None when nothing is."""
        return dict(self._about) if self._senders else None

    async def start(self, seed: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Replace what is being sent; the messages of the beginning are on their way when this returns."""
        chosen = model(arrivals.MessageModel, given)
        checked_numbers.whole("seed", seed, 0, _MOST_SEED)
        if len(self._places) < 2:
            raise InputError("topology", f"{len(self._places)} compute nodes", "two nodes or more to send between")
        self.stop()
        self._about = {"seed": seed, "model": asdict(chosen), "since": time.time()}
        begin = time.monotonic() + _START
        order = {"seed": seed, "model": asdict(chosen), "begin": begin, "places": self._places}
        for node in self._places:
            self._start(node, {**order, "node": node})
            await asyncio.sleep(0)
        await asyncio.sleep(max(0.0, begin - time.monotonic()))
        return dict(self._about)

    def stop(self) -> None:
        """End the senders, and with them what is on its way."""
        for pid in list(self._senders.values()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._senders = {}

    def _start(self, node: str, order: Mapping[str, Any]) -> None:
        def ended(_status: int) -> None:
            if self._senders.get(node) == process.pid:
                del self._senders[node]

        argv = [sys.executable, "-S", "-m", "gridportal.testbed.sender", json.dumps(order)]
        more = {"PYTHONPATH": _PACKAGES}
        process = self._spawner.start(node, argv, "messages", env=more, output=2, limited=False, on_exit=ended)
        self._senders[node] = process.pid
