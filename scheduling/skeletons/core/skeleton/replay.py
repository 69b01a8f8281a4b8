"""Which send met which receive: the trace's operations are let run again, without a network, in virtual time.

The ranks' own computation decides who is first, messages take no time, sends never block, collectives hold all their
ranks. Receives from any source take what came first, so the result is an order in which the program could really have
run. O(events * log ranks), plus the length of queues of unmatched messages.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gridportal.base.errors import ImpossibleError
from scheduling.skeletons.core.skeleton.ops import Event, Op, is_any

Place = tuple[int, int]  # rank, position among its events


@dataclass
class Meeting:
    """`partners[rank][position]`: the events that must stand on the same side of every cut as this one.

    `origin[rank][position]`: the event that sent what the receive there took.
    """

    partners: list[dict[int, list[Place]]]
    origin: list[dict[int, Place]]

    def join(self, one: Place, other: Place) -> None:
        """Both must stand on the same side of every cut."""
        self.partners[one[0]].setdefault(one[1], []).append(other)
        self.partners[other[0]].setdefault(other[1], []).append(one)


@dataclass
class _Message:
    origin: Place
    comm: str
    tag: int | str | None
    at: float


@dataclass
class _Receive:
    place: Place
    op: Op
    slot: int | None


@dataclass
class _Gathering:
    """A collective under way: who has come."""

    arrived: dict[int, int] = field(default_factory=dict)
    at: float = 0.0


def meet(lines: Sequence[Sequence[Event]], comms: Mapping[str, tuple[int, ...]]) -> Meeting:
    """Run `lines` (the events of each rank). Raises ImpossibleError when they wait for each other for ever.

    The trace does not say from whom a receive from anybody took its message; if the run is possible with the one who
    is answered next, it was that one, else whoever came first.
    """
    return _replayed(_Replay, lines, comms).meeting


def critical_path(lines: Sequence[Sequence[Event]], comms: Mapping[str, tuple[int, ...]]) -> float:
    """The cpu seconds after which the last rank is through, where messages take no time. O(events * log ranks)."""
    return max(_replayed(_Clocks, lines, comms).clock)


def _replayed(kind: type[_Replay], lines: Sequence[Sequence[Event]], comms: Mapping[str, tuple[int, ...]]) -> _Replay:
    guess = answered(lines)
    if guess != list(lines):
        try:
            return kind(guess, comms).run()
        except ImpossibleError:
            pass  # nobody answers there: let the clock decide
    return kind(lines, comms).run()


class _Replay:
    def __init__(self, lines: Sequence[Sequence[Event]], comms: Mapping[str, tuple[int, ...]]) -> None:
        ranks = range(len(lines))
        self.lines, self.comms = lines, comms
        self.meeting = Meeting([{} for _ in ranks], [{} for _ in ranks])
        self.next = [0 for _ in ranks]
        self.clock = [0.0 for _ in ranks]
        self.come: list[deque[_Message]] = [deque() for _ in ranks]
        self.posted: list[list[_Receive]] = [[] for _ in ranks]
        self.pending: list[dict[int, Place]] = [{} for _ in ranks]  # slot: where it was started
        self.open: list[set[Place]] = [set() for _ in ranks]  # what a rank started and has not got yet
        self.waits: list[set[Place] | None] = [None for _ in ranks]
        self.gatherings: dict[tuple[str, int], _Gathering] = {}
        self.turn: list[dict[str, int]] = [{} for _ in ranks]
        self.ready = [(0.0, rank) for rank in ranks]

    def run(self) -> _Replay:
        heapq.heapify(self.ready)
        while self.ready:
            _, rank = heapq.heappop(self.ready)
            if self.next[rank] < len(self.lines[rank]):
                self._step(rank)
        stuck = [rank for rank, line in enumerate(self.lines) if self.next[rank] < len(line) or self.waits[rank]]
        if stuck:
            rank = stuck[0]
            op = self.lines[rank][min(self.next[rank], len(self.lines[rank]) - 1)].op
            raise ImpossibleError(
                f"The trace does not fit together: rank {rank} waits for ever in a {op.kind}; trace the program anew."
            )
        return self

    def _step(self, rank: int) -> None:
        position = self.next[rank]
        event = self.lines[rank][position]
        place = (rank, position)
        self.next[rank] += 1
        self.clock[rank] += self._seconds(event)
        op = event.op
        if op.starts:
            self._start(rank, place, op)
        if op.sends:
            self._send(place, op)
        if op.receives:
            self._receive(place, op)
        elif op.kind == "wait":
            self._wait(rank, place, op)
            return
        elif not op.sends and op.kind not in ("send", "ssend", "recv", "sendrecv"):
            self._arrive(place, op)
        self._go_on(rank, set() if op.starts else {place})

    def _seconds(self, event: Event) -> float:
        return event.working

    def _start(self, rank: int, place: Place, op: Op) -> None:
        if op.slot is not None:
            self.pending[rank][op.slot] = place

    def _go_on(self, rank: int, needed: set[Place]) -> None:
        if missing := needed & self.open[rank]:
            self.waits[rank] = missing
        else:
            heapq.heappush(self.ready, (self.clock[rank], rank))

    def _wait(self, rank: int, place: Place, op: Op) -> None:
        begun = [self.pending[rank].pop(slot) for slot in op.slots if slot in self.pending[rank]]
        for start in begun:
            self.meeting.join(start, place)
        self._go_on(rank, set(begun))

    def _send(self, place: Place, op: Op) -> None:
        target = op.peer
        assert target is not None  # noqa: S101 - op.sends says so
        message = _Message(place, op.comm, op.tag, self.clock[place[0]])
        for number, receive in enumerate(self.posted[target]):
            if _fits(message, receive.op):
                del self.posted[target][number]
                self._deliver(message, receive.place)
                return
        self.come[target].append(message)

    def _receive(self, place: Place, op: Op) -> None:
        rank = place[0]
        self.open[rank].add(place)
        for number, message in enumerate(self.come[rank]):
            if _fits(message, op):
                del self.come[rank][number]
                self._deliver(message, place)
                return
        self.posted[rank].append(_Receive(place, op, op.slot))

    def _deliver(self, message: _Message, place: Place) -> None:
        self.meeting.join(message.origin, place)
        self.meeting.origin[place[0]][place[1]] = message.origin
        self._done(place, message.at)

    def _arrive(self, place: Place, op: Op) -> None:
        rank = place[0]
        turn = self.turn[rank].get(op.comm, 0)
        self.turn[rank][op.comm] = turn + 1
        gathering = self.gatherings.setdefault((op.comm, turn), _Gathering())
        gathering.arrived[rank] = place[1]
        gathering.at = max(gathering.at, self.clock[rank])
        self.open[rank].add(place)
        if len(gathering.arrived) == len(self.comms[op.comm]):
            del self.gatherings[op.comm, turn]
            places = list(gathering.arrived.items())
            for one, other in pairwise(places):
                self.meeting.join(one, other)
            for there in places:
                self._done(there, gathering.at)

    def _done(self, place: Place, at: float) -> None:
        rank = place[0]
        self.open[rank].discard(place)
        missing = self.waits[rank]
        if missing is None:
            return
        missing.discard(place)
        if not missing:
            self.waits[rank] = None
            self.clock[rank] = max(self.clock[rank], at)
            heapq.heappush(self.ready, (self.clock[rank], rank))


class _Clocks(_Replay):
    """With exact clocks, of cpu seconds. In a replay that only asks who met whom a rank does not wait for what another
    did before in the order of the replay, though by its clock it was later."""

    def __init__(self, lines: Sequence[Sequence[Event]], comms: Mapping[str, tuple[int, ...]]) -> None:
        super().__init__(lines, comms)
        self.came: dict[Place, float] = {}

    def _seconds(self, event: Event) -> float:
        return event.work

    def _go_on(self, rank: int, needed: set[Place]) -> None:
        self.clock[rank] = max([self.clock[rank], *(self.came.pop(place, 0.0) for place in needed)])
        super()._go_on(rank, needed)

    def _done(self, place: Place, at: float) -> None:
        rank = place[0]
        if place in (self.waits[rank] or ()):
            self.clock[rank] = max(self.clock[rank], at)
        else:
            self.came[place] = at
        super()._done(place, at)


def _fits(message: _Message, op: Op) -> bool:
    if message.comm != op.comm:
        return False
    if not is_any(op.source) and op.source != message.origin[0]:
        return False
    return is_any(op.recv_tag) or op.recv_tag == message.tag


def answered(lines: Sequence[Sequence[Event]]) -> list[list[Event]]:
    """Receives from anybody become receives from whoever is answered next: who asks a master is who gets its answer."""
    return [_answered(line) for line in lines]


def _answered(line: Sequence[Event]) -> list[Event]:
    changed = list(line)
    peer: int | None = None
    for position in range(len(line) - 1, -1, -1):
        op = line[position].op
        if op.receives and is_any(op.source):
            if peer is not None:
                changed[position] = replace(line[position], op=replace(op, source=peer))
            peer = None
        elif op.sends:
            peer = op.peer
    return changed
