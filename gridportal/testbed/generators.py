"""What disturbs the Grid on purpose: the traffic model applied to the shaping, and processes that compete for nodes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from gridportal.base import checked_numbers
from gridportal.base.errors import BackendError, GridPortalError, InputError
from gridportal.testbed import stream_model
from gridportal.testbed.layout import Layout, directed_rates, shared_paths
from gridportal.testbed.node_processors import NO_PROCESSORS, LeftGroups, NodeProcessors
from gridportal.testbed.spawn import Spawner

log = logging.getLogger(__name__)
Rates = Mapping[tuple[str, str], float]
# One start for all of a node: each further one would have to wait for its turn among those that are busy already.
_BUSY = 'n=$1; while [ "$n" -gt 1 ]; do (while :; do :; done) & n=$((n - 1)); done; while :; do :; done'
_MOST_OF_NODE = 64
_MOST_OF_ALL = 256
MOST_STREAMS = 10_000
_FASTEST = 1000.0  # then an event comes every 30 ms, and each is a call of tc


class Traffic:
    """Replays the traffic model; `apply` sets directed links to new rates in bit/s."""

    def __init__(self, layout: Layout, apply: Callable[[Rates], Awaitable[None]]) -> None:
        self._layout = layout
        self._apply = apply
        self._task: asyncio.Task[None] | None = None
        self._about: dict[str, Any] = {}
        self._changing = asyncio.Lock()

    def view(self) -> dict[str, Any] | None:
        """What is being replayed and the last event; None when nothing is."""
        return dict(self._about) if self._task and not self._task.done() else None

    async def start(self, seed: int, time_scale: float, streams: int, seconds: float | None) -> dict[str, Any]:
        """Replace what is being replayed; the first `streams` have entered when this returns. BackendError where links
        cannot be changed: then nothing is replayed."""
        checked_numbers.above_zero("time_scale", time_scale, _FASTEST, "a number")
        checked_numbers.whole("streams", streams, 0, MOST_STREAMS)
        if seconds is not None:
            checked_numbers.above_zero("seconds", seconds)
        events = stream_model.replay(random.Random(seed), shared_paths(self._layout.topology), streams=streams)  # noqa: S311
        busy, later = await asyncio.to_thread(_begin, events)
        async with self._changing:
            await self._set_links(self._directions(busy))
            self._about = {"seed": seed, "time_scale": time_scale, "streams": streams, "since": time.time()}
            until = None if seconds is None else time.time() + seconds
            self._task = asyncio.create_task(self._replay(itertools.chain(later, events), time_scale, until))
            return dict(self._about)

    async def _set_links(self, rates: Rates) -> None:
        """End what is replayed and set the links. Where that fails they get back what they had; the error says it."""
        before = self.view()
        try:
            await self._stop()
            await self._apply(rates)
        except (GridPortalError, OSError) as error:
            ended = f" That of seed {before['seed']}, which ran, was ended." if before else ""
            nothing = f"The traffic was not started, and none runs now.{ended}"
            raise BackendError(f"{nothing} {await self._give_back()} ({error})") from error

    async def _give_back(self) -> str:
        """Undo what was done to the links; whether that worked, in words."""
        try:
            await self._apply(directed_rates(self._layout.topology))
        except (GridPortalError, OSError) as error:
            log.warning("Links keep the rates of traffic that runs no more: %s", error)
            return "Some links may still be slowed: gridportal testbed traffic --stop gives them back what they have."
        return "All links have what they had; try again when the machine is less busy."

    async def stop(self) -> None:
        """End the replay and give every link back what its topology says."""
        async with self._changing:
            await self._stop()

    async def _stop(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            await self._apply(directed_rates(self._layout.topology))

    async def _replay(self, events: Iterator[stream_model.Event], scale: float, until: float | None) -> None:
        begin = time.time()
        for event in events:
            due = begin + event.at / scale
            if until is not None and due > until:
                break
            await asyncio.sleep(max(0.0, due - time.time()))
            try:
                await self._apply(self._directions({event.link: event.available}))
            except GridPortalError as error:  # the next event of this link sets it right
                log.warning("Traffic could not change a link: %s", error)
            self._about["last_event"] = asdict(event)
        if until is not None:
            await asyncio.sleep(max(0.0, until - time.time()))
            await self._give_back()

    def _directions(self, rates: Rates) -> dict[tuple[str, str], float]:
        if self._layout.topology.directed:
            return dict(rates)
        return {pair: rate for (a, b), rate in rates.items() for pair in ((a, b), (b, a))}


def _begin(events: Iterator[stream_model.Event]) -> tuple[dict[tuple[str, str], float], list[stream_model.Event]]:
    """What is left of each link once the first streams have entered, and the event after that."""
    busy: dict[tuple[str, str], float] = {}
    for event in events:
        if event.at > 0:
            return busy, [event]
        busy[event.link] = event.available
    return busy, []


class Load:
    """Busy processes on nodes, as the load generator of Selection 1999, 4.2 has them."""

    def __init__(self, spawner: Spawner, processors: NodeProcessors = NO_PROCESSORS) -> None:
        self._spawner, self._processors = spawner, processors
        self._numbers = itertools.count(1)
        self._left = LeftGroups()
        self._busy: dict[str, dict[int, int]] = {}  # by node: how many there are in each process group
        self._starting = asyncio.Lock()

    def view(self) -> dict[str, int]:
        """How many busy processes each node has."""
        return {node: sum(groups.values()) for node, groups in self._busy.items() if groups}

    async def start(self, nodes: list[str], count: int, seconds: float | None) -> dict[str, int]:
        """Add `count` busy processes to each of `nodes`, for `seconds` or until stopped.

        Others are answered in between: a start takes some milliseconds.
        """
        checked_numbers.whole("processes", count, 1, _MOST_OF_NODE)
        if seconds is not None:
            checked_numbers.above_zero("seconds", seconds)
        nodes = list(dict.fromkeys(nodes))
        for node in nodes:
            self._spawner.check(node)
        async with self._starting:
            self._check_room(nodes, count)
            for node in nodes:
                group = self._start_group(node, count)
                if seconds is not None:
                    asyncio.get_running_loop().call_later(seconds, self._end, node, group)
                await asyncio.sleep(0)
        return self.view()

    def _check_room(self, nodes: list[str], count: int) -> None:
        have = self.view()
        full = next((node for node in nodes if have.get(node, 0) + count > _MOST_OF_NODE), None)
        if full is not None:
            beside = f"at most {_MOST_OF_NODE} on a node, and {full} has {have.get(full, 0)}"
            raise InputError("processes", count, beside)
        total, asked = sum(have.values()), count * len(nodes)
        if total + asked > _MOST_OF_ALL:
            beside = f"at most {_MOST_OF_ALL} on all nodes, which have {total}"
            raise InputError("processes", f"{count} on each of {len(nodes)} nodes", beside)

    def stop(self, nodes: list[str] | None) -> None:
        """End the busy processes of `nodes` (None: of all)."""
        for node in nodes if nodes is not None else list(self._busy):
            self._spawner.check(node)
            for group in list(self._busy.get(node, ())):
                self._end(node, group)

    def _start_group(self, node: str, count: int) -> int:
        argv = ["sh", "-c", _BUSY, "load", str(count)]
        own = self._processors.own_group(node, f"@load-{next(self._numbers)}", count)

        def ended(_: int) -> None:
            self._end(node, process.pid)
            self._left.remove([own] if own else [])

        process = self._spawner.start(node, argv, "load", group=own, on_exit=ended)
        self._busy.setdefault(node, {})[process.pid] = count
        return process.pid

    def _end(self, node: str, group: int) -> None:
        if self._busy.get(node, {}).pop(group, None) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
