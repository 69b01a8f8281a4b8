"""Task farms: a master receives from whoever comes first, and gives the next task to that rank.

Who does which task is decided while the program runs. A skeleton that repeated the order of the traced run would let
the master wait for a slow worker where the program gives more to the others. So all turns of a master in a row are one
operation of all ranks, in which the player hands out tasks as the program does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduling.skeletons.core.skeleton.ops import Event, Op
from scheduling.skeletons.core.skeleton.replay import Meeting
from scheduling.skeletons.core.skeleton.task_farm import FARM, Farm, Task

#: Fewer turns of each worker than this are no farm: their order is as good as any.
_LEAST_TURNS = 3

Lines = Sequence[Sequence[Event]]


@dataclass(frozen=True, slots=True)
class _Turn:
    """A worker's message to the master at two places of their lines; the answer stands behind both."""

    place: int
    worker: int
    its_place: int


def gathered(lines: Lines, meeting: Meeting) -> tuple[list[list[Event]], Mapping[Op, Farm]]:
    """The lines with each farm of all ranks as one operation on the communicator FARM, and these farms: of those with
    one master and number of tasks the first. O(events)."""
    changed, farms = [list(line) for line in lines], dict[Op, Farm]()
    for master in range(len(lines)):
        for stretch in reversed(_stretches(lines, meeting, master)):
            farm = _farm(lines, master, stretch)
            op = Op("farm", FARM, root=master, tag=len(farm.tasks))
            farms[op] = farm  # the first one is the last that comes here
            _replace(changed, op, _places(master, stretch))
    return changed, farms


def _stretches(lines: Lines, meeting: Meeting, master: int) -> list[list[_Turn]]:
    """Turns of a master in a row, in which all others take part."""
    found: list[list[_Turn]] = [[]]
    after: dict[int, int] = {}  # by worker: where its next turn has to be
    place = 0
    while place + 1 < len(lines[master]):
        turn = _turn(lines, meeting, master, place)
        if turn is None or after.get(turn.worker, turn.its_place) != turn.its_place:
            found.append([])
            after.clear()
        if turn is None:
            place += 1
            continue
        found[-1].append(turn)
        after[turn.worker] = turn.its_place + 2
        place += 2
    return [stretch for stretch in found if _is_farm(stretch, len(lines))]


def _is_farm(stretch: Sequence[_Turn], ranks: int) -> bool:
    workers = {turn.worker for turn in stretch}
    return len(workers) == ranks - 1 > 1 and len(stretch) >= _LEAST_TURNS * len(workers)


def _turn(lines: Lines, meeting: Meeting, master: int, place: int) -> _Turn | None:
    """A receive from anybody and then the answer, to one who sends and then waits for the answer."""
    came, answer = lines[master][place].op, lines[master][place + 1].op
    origin = meeting.origin[master].get(place)
    if not came.anybody or not _is_plain(came, "recv") or not _is_plain(answer, "send") or origin is None:
        return None
    worker, there = origin
    if worker != answer.peer or worker == master or not _is_plain(lines[worker][there].op, "send"):
        return None
    answered = meeting.origin[worker].get(there + 1)
    if answered != (master, place + 1) or not _is_plain(lines[worker][there + 1].op, "recv"):
        return None
    return _Turn(place, worker, there)


def _is_plain(op: Op, kind: str) -> bool:
    return op.kind == kind and not op.starts


def _farm(lines: Lines, master: int, stretch: Sequence[_Turn]) -> Farm:
    """A worker's next message is the result of what its last answer gave it."""
    asks: dict[int, Task] = {}
    given: list[tuple[int, Task]] = []
    answered: dict[int, tuple[int, int]] = {}  # by worker: when it got its last answer, and the bytes of that
    for turn in stretch:
        asked, waited = lines[turn.worker][turn.its_place : turn.its_place + 2]
        when, out = answered.get(turn.worker, (-1, 0))
        task = Task(asked.work + waited.work, asked.op.bytes, out)
        if turn.worker in answered:
            given.append((when, task))
        else:
            asks[turn.worker] = task
        answered[turn.worker] = (turn.place, lines[master][turn.place + 1].op.bytes)
    serving = sum(event.work for turn in stretch for event in lines[master][turn.place : turn.place + 2])
    return Farm(
        master=master,
        workers=tuple(sorted(asks)),
        asks=tuple(asks[worker] for worker in sorted(asks)),
        tasks=tuple(task for _, task in sorted(given, key=lambda each: each[0])),
        last=max(out for _, out in answered.values()),
        serving=serving / len(stretch),
    )


def _places(master: int, stretch: Sequence[_Turn]) -> dict[int, tuple[int, int]]:
    """From where to where it goes on each rank."""
    places = {master: (stretch[0].place, stretch[-1].place + 2)}
    for turn in stretch:
        first, _ = places.get(turn.worker, (turn.its_place, 0))
        places[turn.worker] = (first, turn.its_place + 2)
    return places


def _replace(lines: list[list[Event]], op: Op, places: Mapping[int, tuple[int, int]]) -> None:
    for rank, (first, end) in places.items():
        events = lines[rank][first:end]
        whole = (sum(getattr(event, of) for event in events) for of in ("work", "working", "inside"))
        lines[rank][first:end] = [Event(op, *whole)]
