"""Whether moves were made once and as they were decided: decisions, what they led to, and the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.runs.core.continuation_states import OPEN_CONTINUATIONS, ContinuationState
from tests.chaos.verdict import Violation

#: What nobody has to wait for any more once the portal has settled.
_DECIDED = (DecisionState.APPROVED, DecisionState.OVERRIDDEN, DecisionState.MOVING)


@dataclass(frozen=True, slots=True)
class DecisionTale:
    """A decision as its row tells it; `continuation` 0: none. `events`: the states it went through."""

    id: int
    job: int
    state: str
    continuation: int
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopTale:
    """A stop and restart: its state, and the numbers of the runs that it stopped and started (0: none)."""

    id: int
    job: int
    state: str
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class CountedJob:
    """A job of the program that counts its steps. `verified`: what its last run says of itself, null while unknown."""

    job: int
    state: str
    verified: bool | None
    runs: int


@dataclass(frozen=True, slots=True)
class MovesTale:
    """All of it."""

    decisions: tuple[DecisionTale, ...]
    stops: tuple[StopTale, ...]
    jobs: tuple[CountedJob, ...]

    @classmethod
    def read(cls, document: dict[str, Any]) -> MovesTale:
        """From the JSON that `tests.chaos.rows moves` prints."""
        decisions = (DecisionTale(**{**each, "events": tuple(each["events"])}) for each in document["decisions"])
        stops, jobs = (
            (StopTale(**each) for each in document["stops"]),
            (CountedJob(**each) for each in document["jobs"]),
        )
        return cls(tuple(decisions), tuple(stops), tuple(jobs))

    @property
    def moved(self) -> int:
        """Jobs that were moved, each time."""
        return sum(each.state == ContinuationState.MOVED for each in self.stops)


def judge(tale: MovesTale) -> Iterator[Violation]:
    """What is broken once the portal has settled."""
    yield from _stuck(tale)
    yield from _twice(tale)
    for job in tale.jobs:
        if job.verified is False:
            yield Violation(job.job, "each step is done once", "Its program found steps left out or done twice.")
        if job.state == "stopped":
            yield Violation(job.job, "a moved job goes on", "It has stopped, and nobody takes it up.")


def _stuck(tale: MovesTale) -> Iterator[Violation]:
    for each in tale.decisions:
        if each.state in _DECIDED:
            yield Violation(each.job, "no decision is stuck", f"Decision {each.id} is {each.state}.")
    for stop in tale.stops:
        if stop.state in OPEN_CONTINUATIONS:
            yield Violation(stop.job, "no move is stuck", f"Its stop and restart {stop.id} is {stop.state}.")


def _twice(tale: MovesTale) -> Iterator[Violation]:
    by_stop = Counter(each.continuation for each in tale.decisions if each.continuation)
    for stop in tale.stops:
        if by_stop[stop.id] > 1:
            yield Violation(stop.job, "a decision moves once", f"{by_stop[stop.id]} decisions have made one move.")
    for name, runs in (("stopped", _pairs(tale, "source")), ("started", _pairs(tale, "target"))):
        for (job, run), times in Counter(runs).items():
            if times > 1:
                yield Violation(job, "none is moved twice", f"Its run {run} was {name} by {times} moves.")
    for each in tale.decisions:
        if each.events.count(DecisionState.MOVING) > 1:
            yield Violation(each.job, "a decision moves once", f"Decision {each.id} went to moving twice.")


def _pairs(tale: MovesTale, which: str) -> Iterable[tuple[int, int]]:
    """(job, run) of moves that were made."""
    made = (each for each in tale.stops if each.state == ContinuationState.MOVED)
    return [(each.job, getattr(each, which)) for each in made if getattr(each, which)]
