"""From a trace to a communication skeleton (Pattern 2003, 2.2; made by program, which its section 4 only foresees)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from gridportal.base.errors import ImpossibleError, InputError
from scheduling.profiles.core.trace import Trace, steps
from scheduling.skeletons.core.skeleton.farms import gathered
from scheduling.skeletons.core.skeleton.folding import WINDOW, fold
from scheduling.skeletons.core.skeleton.kept_rounds import RoundChoice
from scheduling.skeletons.core.skeleton.kinds import Segment, kinds
from scheduling.skeletons.core.skeleton.ops import Event, events
from scheduling.skeletons.core.skeleton.replay import meet
from scheduling.skeletons.core.skeleton.scaling import Scaled, scale
from scheduling.skeletons.core.skeleton.stand_ins import Exchanges, exchanges
from scheduling.skeletons.core.skeleton.task_farm import FARM
from scheduling.skeletons.core.skeleton.touched_memory import TouchedMemory, touched_memory
from scheduling.skeletons.core.skeleton.varied_work import varied

MOST_EVENTS = 5_000_000
#: A body of several kept rounds is as many times longer than one whose rounds are all the same.
_WIDER = 4


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A short program that stands for a long one on the same number of ranks.

    `segments` are those of the whole run, `scaled` says which of them run how often. `work[rank]` is all the cpu time
    of the application, `working[rank]` the wall time of that, `inside[rank]` all its time in MPI, `seconds` its wall
    time, where the trace was made; `pace` how many units of the player's work a cpu second was there, 0: nobody knows;
    `touched` what it touched of its memory, None: too little to count, or nobody knows.
    """

    program: str
    ranks: int
    mpi: str
    comms: dict[str, tuple[int, ...]]
    segments: tuple[Segment, ...]
    scaled: Scaled
    work: tuple[float, ...]
    working: tuple[float, ...]
    inside: tuple[float, ...]
    seconds: float
    target: float
    pace: float = 0.0
    touched: TouchedMemory | None = None

    @property
    def expected(self) -> float:
        """Seconds that it takes where the trace was made."""
        return self.scaled.seconds(self.segments)


def build(trace: Trace, *, target: float) -> Skeleton:
    """The skeleton of `trace` that takes about `target` seconds where the trace was made.

    It repeats whole segments of the run in their order, so it waits for nothing that the program did not wait for.
    Raises InputError for a target that is not above 0, ImpossibleError for a trace that no skeleton can stand for.
    O(events * (log ranks + window)).
    """
    if not target > 0:
        raise InputError("target", target, "seconds above 0")
    calls = max(trace.calls, sum(steps(process.body) for process in trace.processes))
    if calls > MOST_EVENTS:
        raise ImpossibleError(
            f"The trace has {calls:,} calls and a skeleton is built from at most {MOST_EVENTS:,}; trace a run "
            "with fewer iterations."
        )
    read = partial(_lines, trace, exchanges(trace))
    lines = read()
    segments, row = _segments(lines, trace, lambda: varied(trace, lines, target, read))
    if not row:
        raise ImpossibleError(
            f"{trace.program or 'The program'} sends no messages, so it has no communication skeleton."
        )
    tree = fold(row, WINDOW * (_WIDER if any(segment.of_round for segment in segments) else 1))
    working = tuple(
        sum(event.working for event in line) + process.tail.mean
        for line, process in zip(lines, trace.processes, strict=True)
    )
    inside = tuple(sum(event.inside for event in line) for line in lines)
    return Skeleton(
        program=trace.program,
        ranks=trace.ranks,
        mpi=trace.mpi,
        comms={name: members for name, members in trace.comms.items() if name not in trace.inter},
        segments=tuple(segments),
        scaled=scale(tree, segments, target, max(map(sum, zip(working, inside, strict=True)))),
        work=tuple(
            sum(event.work for event in line) + process.tail.cpu
            for line, process in zip(lines, trace.processes, strict=True)
        ),
        working=working,
        inside=inside,
        seconds=trace.wall,
        target=target,
        pace=_pace(trace),
        touched=touched_memory(trace),
    )


def _lines(trace: Trace, exchanged: Exchanges, choice: RoundChoice | None = None) -> list[list[Event]]:
    return [list(events(trace, process, exchanged, choice)) for process in trace.processes]


def _segments(
    lines: Sequence[list[Event]], trace: Trace, with_rounds: Callable[[], Sequence[list[Event]]]
) -> tuple[list[Segment], list[int]]:
    """The kinds of segments, and the run as a row of them; farms, who share out work anew, are segments of their own,
    and else the work may be that of rounds."""
    meeting = meet(lines, trace.comms)
    changed, farms = gathered(lines, meeting)
    if not farms:
        return kinds(with_rounds(), meeting)
    segments, row = kinds(changed, meet(changed, {**trace.comms, FARM: tuple(range(trace.ranks))}))
    for segment in segments:
        segment.farm = farms.get(segment.ops[0][0]) if segment.ops[0] else None
    return segments, row


def _pace(trace: Trace) -> float:
    """The median of the ranks; one that was counted beside more others than usual says little."""
    paces = [process.pace for process in trace.processes]
    return median(paces) if all(paces) else 0.0
