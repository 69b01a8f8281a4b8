"""Probes between agents, in rounds that share neither nodes nor links, within the share of each link they may take; and
transfers at once over links that single ones cannot tell of, within the same share."""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from gridportal.network import joint_flows as joint
from gridportal.network import rounds
from gridportal.network.joint_flows import Joint
from gridportal.network.rounds import Direction, Pair
from gridportal.network.topology import Topology
from gridportal.runtime.agent.frames import RefusedError
from gridportal.runtime.agent.probes import MOST_BYTES
from monitoring.history.core.samples import Sample
from monitoring.telemetry.adapters.agent_answers import Answer
from monitoring.telemetry.adapters.agent_pool import AgentPool

_PART_OF_PERIOD = 0.5
_OVERHEAD = 0.1  # seconds of a probe beside its transfer
_LISTED = 3
_WHOLE_PLAN = 64  # nodes up to which the best plan of rounds is looked for
_HOLDS = 5  # times `every` or `period`: so long a pair's rate is gone by, where links let pairs be measured less often
_MOST_RATES = 4096
_OF_THE_TIME = 0.5  # for transfers at once at most
Sizes = Mapping[Pair, int]


@dataclass(frozen=True)
class ProbeSettings:
    """How to probe: bytes and seconds at most of one probe, seconds after which it has failed, seconds in which every
    pair is measured once at most, and the share of each link's capacity that probes may take. `period`: seconds between
    two questions to the source, since probes are let run when it is asked."""

    size: int
    seconds: float
    timeout: float
    every: float
    share: float
    period: float


@dataclass(frozen=True)
class Probed:
    """What a turn of probing found and cost; `links`: bytes on each direction of a link."""

    samples: list[Sample]
    bytes: int
    error_message: str
    rounds: int
    links: Mapping[Direction, int]


@dataclass
class Memory:
    """When each pair was measured, and until when what links may carry was handed out. `rates`: when the last transfer
    of each directed pair was, and how fast (bit/s); `joined`: when transfers at once crossed a link."""

    measured: dict[Pair, float] = field(default_factory=dict)
    until: float = 0.0
    rates: dict[Pair, tuple[float, float]] = field(default_factory=dict)
    joined: dict[Direction, float] = field(default_factory=dict)


@dataclass
class _Turn:
    """What a turn brings. `sent`: bytes from node to node."""

    now: float
    samples: list[Sample] = field(default_factory=list)
    sent: list[tuple[Pair, int]] = field(default_factory=list)
    error_messages: list[str] = field(default_factory=list)

    def take(self, answers: Mapping[Pair, dict[str, Any] | str], *, kept: bool) -> dict[Pair, float]:
        """The rates among the answers; `kept`: they are those of single transfers, which are samples of their pairs."""
        rates = {}
        for pair, answer in answers.items():
            if isinstance(answer, str):
                self.error_messages.append(f"{pair[0]} to {pair[1]}: {answer}")
                continue
            self.sent.append((pair, int(answer["bytes"])))
            rates[pair] = float(answer["bandwidth"])
            self.samples += _samples(pair, answer, self.now) if kept else []
        return rates


@dataclass(frozen=True)
class Probing:
    """Lets agents probe each other over the network of `topology`; what it does not link is not probed."""

    topology: Topology
    settings: ProbeSettings

    def run(self, pool: AgentPool, addresses: Mapping[str, tuple[str, int]], memory: Memory, now: float) -> Probed:
        """One turn: the pairs that are due and may be afforded now, then transfers at once."""
        nodes = [node.id for node in self.topology.compute_nodes() if node.id in addresses]
        room = self._room(memory, now)
        joints = self.joints(nodes, memory, now, room)
        plan = self.plan(nodes, memory, now, room)
        memory.until = now
        end = time.monotonic() + self.settings.period * _PART_OF_PERIOD
        turn, done = _Turn(now), 0
        for group in plan:
            if time.monotonic() > end - len(joints) * self._lasts:
                break
            done += 1
            memory.measured |= dict.fromkeys(group, now)
            for directed in (group, [(b, a) for a, b in group]):
                sizes = {pair: self.settings.size for pair in directed if self._ways(*pair)}
                rates = turn.take(self._measure(pool, addresses, sizes), kept=True)
                memory.rates |= {pair: (now, rate) for pair, rate in rates.items()}
        for one, sizes in joints:
            if time.monotonic() <= end:
                memory.joined[one.link] = now
                got = turn.take(self._measure(pool, addresses, sizes), kept=False)
                turn.samples += self._of_link(one, got, memory, now)
        cost = rounds.carried(turn.sent, self._ways)
        turn.samples += self._shares(cost, now)
        return Probed(turn.samples, sum(size for _, size in turn.sent), _summary(turn.error_messages), done, cost)

    def joints(
        self, nodes: Sequence[str], memory: Memory, now: float, room: dict[Direction, int]
    ) -> list[tuple[Joint, dict[Pair, int]]]:
        """The transfers at once of this turn and their bytes, taken out of `room`: of links that they did not cross for
        `every` seconds, those longest ago first, as many as fit into half of the time."""
        settings, names = self.settings, set(nodes)
        holds = _HOLDS * max(settings.every, settings.period)
        memory.rates = {pair: kept for pair, kept in memory.rates.items() if now - kept[0] < holds}
        here = (pair for pair in memory.rates if names.issuperset(pair))
        newest = heapq.nlargest(_MOST_RATES, here, key=lambda pair: memory.rates[pair][0])
        due = [
            one
            for one in joint.planned(self.topology, {pair: memory.rates[pair][1] for pair in newest})
            if now - memory.joined.get(one.link, -settings.every) >= settings.every
        ]
        most = int(settings.period * _PART_OF_PERIOD * _OF_THE_TIME / self._lasts)
        chosen: list[tuple[Joint, dict[Pair, int]]] = []
        for one in sorted(due, key=lambda one: memory.joined.get(one.link, 0.0)):
            fitting, sizes = joint.within(one, self._ways, room, settings.size)
            if sizes and len(chosen) < most:
                chosen.append((fitting, sizes))
                for link, probes in joint.spent(fitting, sizes, self._ways, settings.size).items():
                    room[link] -= probes
        return chosen

    def plan(
        self, nodes: Sequence[str], memory: Memory, now: float, room: Mapping[Direction, int] | None = None
    ) -> list[list[Pair]]:
        """The rounds of this turn: pairs that were not measured for `every` seconds, oldest first, as many as fit into
        the time and into the `room` of the links: all that probes may take since the last turn, unless told."""
        settings = self.settings
        fresh = {pair for pair, at in memory.measured.items() if now - at < settings.every}
        every_pair = len(nodes) * (len(nodes) - 1) // 2
        turns = max(1, int(settings.period * _PART_OF_PERIOD / (2 * self._lasts)))
        most = min(every_pair, turns * (len(nodes) // 2))
        room = self._room(memory, now) if room is None else room
        order = rounds.oldest_first(nodes, memory.measured, int(now // settings.period), most)
        chosen = rounds.affordable((pair for pair in order if pair not in fresh), self._ways, room, most)
        if len(nodes) <= _WHOLE_PLAN and len(chosen) == every_pair:
            return rounds.apart(nodes, self._links)
        return rounds.split(chosen, self._links, turns)

    def _shares(self, cost: Mapping[Direction, int], now: float) -> list[Sample]:
        """What probing took of each link, as a fraction of what it could have carried in the period."""
        could = {link: self._capacities[link] / 8 * self.settings.period for link in cost}
        return [Sample(f"{a}>{b}", "probe_share", now, size / could[a, b]) for (a, b), size in cost.items()]

    def _of_link(self, one: Joint, got: Mapping[Pair, float], memory: Memory, now: float) -> list[Sample]:
        """The bandwidth of the link, by what its pairs got alone at last; nothing where a transfer failed."""
        if len(got) < len(one.pairs):
            return []
        joint_now = replace(one, single_rates={pair: memory.rates[pair][1] for pair in one.pairs})
        measured = joint_now.measured(got)
        if not joint.speaks(measured, joint_now, self._ways, self._capacities):
            return []
        return [Sample(f"{measured.source}>{measured.target}", "bandwidth", now, measured.bandwidth)]

    def _room(self, memory: Memory, now: float) -> dict[Direction, int]:
        """Probes that each direction of a link may carry since the last turn."""
        since = max(now - self.settings.period, min(now, memory.until))
        return rounds.room(self._capacities, self.settings.share, self.settings.size, since, now)

    def _measure(
        self, pool: AgentPool, addresses: Mapping[str, tuple[str, int]], pairs: Sizes
    ) -> dict[Pair, dict[str, Any] | str]:
        """The figures of each pair, or why there are none. All at once, with so many bytes: no two share a node."""
        settings = self.settings
        order = {"op": "probe", "seconds": settings.seconds, "timeout": settings.timeout}
        questions = {
            source: {**order, "size": size, "to": list(addresses[target])} for (source, target), size in pairs.items()
        }
        asked = pool.ask(questions, settings.timeout + 1.0)
        found: dict[Pair, dict[str, Any] | str] = {}
        for pair in pairs:
            if failure := asked.failures.get(pair[0]):
                found[pair] = failure.reason
            elif answer := asked.answers.get(pair[0]):
                found[pair] = _checked(answer)
        return found

    @cached_property
    def _ways(self) -> rounds.Ways:
        return rounds.ways_of(self.topology)

    @cached_property
    def _links(self) -> rounds.Links:
        return rounds.both_ways(self._ways)

    @cached_property
    def _capacities(self) -> dict[Direction, float]:
        return joint.capacities(self.topology)

    @property
    def _lasts(self) -> float:
        """Seconds of a round in one direction."""
        return self.settings.seconds + _OVERHEAD


def _checked(answer: Answer) -> dict[str, Any] | str:
    try:
        document = answer.document
    except RefusedError as error:
        return str(error)
    if "error" in document:
        return str(document["error"])
    numbers = [document.get(name) for name in ("bandwidth", "bytes", "latency")]
    if not all(isinstance(number, int | float) and 0 <= number < 1e18 for number in numbers):
        return "its figures cannot be read"
    if document["bytes"] > MOST_BYTES:
        return "it tells of more bytes than a probe has"
    return document if document["bandwidth"] > 0 else "nothing arrived"


def _samples(pair: Pair, answer: Mapping[str, Any], now: float) -> list[Sample]:
    subject = f"{pair[0]}>{pair[1]}"
    return [
        Sample(subject, "bandwidth", now, float(answer["bandwidth"])),
        Sample(subject, "latency", now, float(answer["latency"])),
    ]


def _summary(error_messages: Sequence[str]) -> str:
    if not error_messages:
        return ""
    more = f" and {len(error_messages) - _LISTED} more" if len(error_messages) > _LISTED else ""
    return f"probes failed: {', '.join(error_messages[:_LISTED])}{more}"
