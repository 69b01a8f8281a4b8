"""What the portal says of each job, as read from its rows at the end, and what was done to the portal meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a job's life."""

    before: str
    after: str
    reason: str
    actor: str


@dataclass(frozen=True, slots=True)
class Story:
    """A job as the portal tells it. `open_runs` are keys of runs and trials that are said not to be over; `runs` has
    the number and the state of each run, in their order; `time_limit` in seconds."""

    job: int
    request_key: str
    application: str
    cluster: str
    state: str
    reason: str
    is_dated: bool
    time_limit: float | None = None
    events: tuple[Event, ...] = ()
    run_keys: tuple[str, ...] = ()
    open_runs: tuple[str, ...] = ()
    runs: tuple[tuple[int, str], ...] = ()

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Story:
        """A story from the JSON that tests.chaos.rows prints."""
        events = tuple(Event(**event) for event in row["events"])
        runs = tuple((number, state) for number, state in row["runs"])
        keys = {name: tuple(row[name]) for name in ("run_keys", "open_runs")}
        return cls(**{**row, **keys, "events": events, "runs": runs})


@dataclass(slots=True)
class Window:
    """A disturbance that took place: seconds of uptime from its beginning to its end; `what` it hit, in words."""

    kind: str
    began: float
    what: str
    ended: float = float("inf")

    def covers(self, at: float, before: float = 0.0, after: float = 0.0) -> bool:
        """Whether `at` lies in it, or so many seconds before or after."""
        return self.began - before <= at <= self.ended + after


@dataclass(slots=True)
class Asked:
    """One submission as its client saw it: the key it sent, the ids and statuses that were answered, and what was
    said when it was refused."""

    key: str
    person: str
    ids: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person did with a job, and the seconds of uptime between which the portal was asked and answered."""

    verb: str
    job: int
    began: float
    ended: float
