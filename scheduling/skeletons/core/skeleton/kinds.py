"""Segments of the same operations, or of nearly the same, are one kind; a run is a row of kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scheduling.skeletons.core.skeleton.kept_rounds import NO_ROUND
from scheduling.skeletons.core.skeleton.ops import Event, Op, is_any
from scheduling.skeletons.core.skeleton.replay import Meeting
from scheduling.skeletons.core.skeleton.segments import Cut, cuts
from scheduling.skeletons.core.skeleton.similar import Ops, mean_sizes, shape, similar_sizes, similar_work
from scheduling.skeletons.core.skeleton.task_farm import Farm

#: Above this, in seconds, kinds are told apart when their work differs by more than about a factor of four. Less is
#: not: executions that differ by noise would become kinds of their own, each too rare to run in its full size.
_LEAST_WORK = 1e-3

#: A segment is compared with so many kinds of its shape, the newest first: more would cost the square of the segments.
_COMPARED = 32

Lines = Sequence[Sequence[Event]]
#: Of each event by rank.
Rounds = tuple[tuple[int, ...], ...]


@dataclass
class Segment:
    """What all ranks did between two cuts: `ops[rank]`, and of each the mean seconds over `times` executions.

    `work[rank][k]` cpu seconds before the k-th operation, `inside[rank]` wall seconds inside MPI, `wall[rank]` both.
    A farm is one operation of all ranks. `of_round`: it has the work of a kept round, of which others are its like.
    """

    ops: tuple[tuple[Op, ...], ...]
    times: int = 0
    work: list[list[float]] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    farm: Farm | None = None
    of_round: bool = False

    @property
    def seconds(self) -> float:
        """One execution, on the rank that took longest."""
        return max(self.wall, default=0.0)

    def add(self, events: Sequence[Sequence[Event]]) -> None:
        """One more execution."""
        if not self.times:
            self.work = [[0.0] * len(line) for line in events]
            self.inside = [0.0] * len(events)
            self.wall = [0.0] * len(events)
        self.times += 1
        share = 1.0 / self.times
        for rank, line in enumerate(events):
            work = self.work[rank]
            for k, event in enumerate(line):
                work[k] += (event.work - work[k]) * share
            inside = sum(event.inside for event in line)
            self.inside[rank] += (inside - self.inside[rank]) * share
            self.wall[rank] += (inside + sum(event.working for event in line) - self.wall[rank]) * share


def kinds(lines: Lines, meeting: Meeting) -> tuple[list[Segment], list[int]]:
    """The different segments of a run, and the run as a row of their numbers."""
    reader = _Resolver(lines, meeting)
    found = _Kinds()
    row: list[int] = []
    for start, end in _pairs(cuts([len(line) for line in lines], meeting)):
        events = [line[first:last] for line, first, last in zip(lines, start, end, strict=True)]
        row.append(found.add(reader.ops(start, end), events))
    return found.settled(), row


class _Kinds:
    """The kinds so far, what belongs to which, and how often each variant of a kind ran."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._variants: list[Counter[Ops]] = []
        self._known: dict[object, int] = {}
        self._shaped: dict[tuple[Ops, Rounds], list[int]] = {}

    def add(self, ops: Ops, events: Lines) -> int:
        """The number of the kind to which a segment belongs, a new one where it resembles none."""
        rounds = tuple(tuple(event.round for event in line) for line in events)
        key = (ops, rounds, tuple(tuple(_size(event.work) for event in line) for line in events))
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._resembling(ops, rounds, events)
        self._variants[number][ops] += 1
        self._segments[number].add(events)
        return number

    def _resembling(self, ops: Ops, rounds: Rounds, events: Lines) -> int:
        """Of two kept rounds are two kinds: that their work is not the same is what they were kept for."""
        numbers = self._shaped.setdefault((shape(ops), rounds), [])
        work = [[event.work for event in line] for line in events]
        for number in reversed(numbers[-_COMPARED:]):
            segment = self._segments[number]
            if similar_sizes(segment.ops, ops) and similar_work(segment.work, work):
                return number
        numbers.append(len(self._segments))
        self._segments.append(Segment(ops, of_round=any(number != NO_ROUND for line in rounds for number in line)))
        self._variants.append(Counter())
        return numbers[-1]

    def settled(self) -> list[Segment]:
        """The kinds, each with the mean sizes of its variants."""
        for segment, variants in zip(self._segments, self._variants, strict=True):
            segment.ops = mean_sizes(variants)
        return self._segments


def _pairs(points: Iterator[Cut]) -> Iterator[tuple[Cut, Cut]]:
    before = next(points)
    for point in points:
        yield before, point
        before = point


def _size(work: float) -> int:
    return round(math.log(work / _LEAST_WORK, 4)) if work > _LEAST_WORK else 0


class _Resolver:
    """Gives receives their real sender and size, messages a channel number, and requests numbers of their own."""

    def __init__(self, lines: Lines, meeting: Meeting) -> None:
        self._lines, self._meeting = lines, meeting
        self._channels: dict[tuple[str, object], int] = {}

    def ops(self, start: Cut, end: Cut) -> tuple[tuple[Op, ...], ...]:
        return tuple(
            tuple(self._line(rank, first, last)) for rank, (first, last) in enumerate(zip(start, end, strict=True))
        )

    def _line(self, rank: int, first: int, last: int) -> Iterator[Op]:
        slots: dict[int, int] = {}
        for position in range(first, last):
            op = self._lines[rank][position].op
            if op.starts and op.slot is not None:
                slots[op.slot] = len(slots)
            yield self._resolved(op, rank, position, slots)

    def _resolved(self, op: Op, rank: int, position: int, slots: Mapping[int, int]) -> Op:
        if op.kind == "wait":
            return Op("wait", slots=tuple(slots[slot] for slot in op.slots if slot in slots))
        slot = None if op.slot is None or not op.starts else slots[op.slot]
        tag = op.tag if op.peer is None else self._channel(op.comm, op.tag)
        origin = self._meeting.origin[rank].get(position)
        if origin is None:
            return replace(op, slot=slot, tag=tag)
        sent = self._lines[origin[0]][origin[1]].op
        channel = self._channel(op.comm, sent.tag if is_any(op.recv_tag) else op.recv_tag)
        return replace(op, slot=slot, tag=tag, source=origin[0], recv_tag=channel, recv_bytes=sent.bytes)

    def _channel(self, comm: str, tag: object) -> int:
        return self._channels.setdefault((comm, tag), len(self._channels))
