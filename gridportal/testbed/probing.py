"""One sweep of real transfers over the Grid: every ordered pair of nodes, in rounds that do not disturb each other, and
then some at once over the links that single transfers cannot tell of (gridportal.network.joint_flows).

Both directions of a pair are measured one after the other: at once, the acknowledgements of the one would wait in
the queue of the other.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.network import joint_flows as joint
from gridportal.network.rounds import Pair, apart, tournament
from gridportal.testbed import hops
from gridportal.testbed.agent import Member
from gridportal.testbed.layout import Layout

SIZE = 512 * 1024
SECONDS = 0.12
MOST_BYTES = 10**9
OVERLAP = 0.4  # seconds of transfers at once: their time ends them, so that they overlap for nearly all of it
LONGEST = 10.0  # seconds of one transfer: within the patience below
_PATIENCE = 20.0


class Prober:
    """Asks the node agents for transfers, never two at once of one agent."""

    def __init__(self, layout: Layout, members: Mapping[str, Member], *, shaped: bool) -> None:
        self._layout = layout
        self._members = members
        self._shaped = shaped
        self._streams: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._busy = asyncio.Lock()
        self._numbers = itertools.count(1)

    async def sweep(self, nodes: Sequence[str], size: int = SIZE, seconds: float = SECONDS) -> dict[str, Any]:
        """Measure every ordered pair of `nodes` with at most `size` bytes and about `seconds` each."""
        async with self._busy:
            begin = time.time()
            plan = self.rounds(nodes)
            pairs: list[dict[str, Any]] = []
            for group in plan:
                for directed in (group, [(b, a) for a, b in group]):
                    wanted = [pair for pair in directed if hops.path(self._layout, *pair)]
                    answers = [self._measure(pair, size, seconds) for pair in wanted]
                    pairs += _all(await asyncio.gather(*answers, return_exceptions=True))
            together, more = await self._together(pairs)
            return {
                "at": begin,
                "seconds": time.time() - begin,
                "rounds": len(plan),
                "bytes": sum(pair.pop("bytes") for pair in pairs) + more,
                "pairs": pairs,
                "together": together,
            }

    def rounds(self, nodes: Sequence[str]) -> list[list[Pair]]:
        """The rounds of a sweep over `nodes`."""
        if self._layout.topology.kind == "pairs" or not self._shaped:
            return tournament(nodes)
        return apart(nodes, self._links)

    def _links(self, source: str, target: str) -> set[frozenset[str]]:
        return {frozenset(link) for link in hops.path(self._layout, source, target)}

    async def _together(self, pairs: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
        """What links behind slower ones carry when several transfers cross them at once, and the bytes that it cost."""
        if not self._shaped:
            return [], 0
        rates = {(pair["source"], pair["target"]): float(pair["bandwidth"]) for pair in pairs}
        found, cost = [], 0
        for one in joint.planned(self._layout.topology, rates):
            answers = [self._measure(pair, MOST_BYTES, OVERLAP) for pair in one.pairs]
            got = _all(await asyncio.gather(*answers, return_exceptions=True))
            cost += sum(answer["bytes"] for answer in got)
            measured = one.measured({(each["source"], each["target"]): float(each["bandwidth"]) for each in got})
            found.append(asdict(measured))
        return found, cost

    async def _measure(self, pair: Pair, size: int, seconds: float) -> dict[str, Any]:
        source, target = pair
        address = self._layout.addresses[target] if self._shaped else "127.0.0.1"
        order = {"address": address, "port": self._members[target].port, "size": size, "seconds": seconds}
        answer = await self._ask(source, order)
        if "error" in answer:
            raise BackendError(f"The transfer from {source} to {target} failed: {answer['error']}.")
        return {"source": source, "target": target, **answer}

    async def _ask(self, name: str, order: Mapping[str, Any]) -> dict[str, Any]:
        if name not in self._streams:
            self._streams[name] = await asyncio.open_unix_connection(sock=self._members[name].control)
        reader, writer = self._streams[name]
        number = next(self._numbers)
        writer.write(json.dumps({**order, "number": number}).encode() + b"\n")
        while True:
            line = await asyncio.wait_for(reader.readline(), _PATIENCE)
            if not line:
                raise BackendError(f"The agent of node {name} has ended; take the Grid down and up again.")
            answer: dict[str, Any] = json.loads(line)
            if answer.pop("number", None) == number:  # An older one was given up when its time was over.
                return answer


def _all(answers: list[dict[str, Any] | BaseException]) -> list[dict[str, Any]]:
    """The answers, once every transfer of the round is over; the first failure is raised."""
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if isinstance(answer, dict)]
