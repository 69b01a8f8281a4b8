"""A task farm as a value, and as what a short skeleton plays of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

#: The communicator on which a farm stands in the lines of events: that of all ranks.
FARM = "farm"
#: So many different tasks stand for all: they are given in turn.
_MOST_TASKS = 200
#: Tasks are made smaller only where so many times as many as wanted are given.
_ROUNDED = 1.2


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does with it in cpu seconds, the bytes of its result, and of the message that hands it out."""

    seconds: float
    back: int
    out: int


@dataclass(frozen=True, slots=True)
class Farm:
    """`asks` are the first messages of the workers, in their order; `tasks` stand in the order in which they are given;
    `last` are the bytes with which a worker is let go; `serving` the master's cpu seconds for each message."""

    master: int
    workers: tuple[int, ...]
    asks: tuple[Task, ...]
    tasks: tuple[Task, ...]
    last: int
    serving: float

    @property
    def idle(self) -> int:
        """How many tasks are given before any is being worked at: one to each worker where they begin by asking."""
        asked = fmean(ask.seconds for ask in self.asks)
        return len(self.workers) if asked < fmean(task.seconds for task in self.tasks) / 2 else 0


@dataclass(frozen=True, slots=True)
class ShortFarm:
    """A farm with `given` tasks, each as long as `size` of one of the whole: together `part` of all tasks."""

    farm: Farm
    given: int
    size: float
    part: float

    def op(self, rank: int, smaller: Callable[[int, float], int]) -> dict[str, object]:
        """What a rank does until all tasks are given; sizes by `smaller` (bytes, size)."""
        farm = self.farm
        head = {"master": farm.master, "ranks": list(farm.workers), "given": self.given, "last": farm.last}
        tasks = [[task.seconds, smaller(task.back, self.size), smaller(task.out, self.size)] for task in self._tasks()]
        if rank == farm.master:
            most = max(ask.back for ask in farm.asks)
            return {"op": "master", **head, "seconds": farm.serving * self.size, "bytes": most, "tasks": tasks}
        ask = farm.asks[farm.workers.index(rank)]
        return {"op": "worker", **head, "seconds": ask.seconds * self.size, "bytes": ask.back, "tasks": tasks}

    def closing(self) -> dict[str, object]:
        """What each rank does then: the master waits for the last results, and lets the workers go."""
        farm = self.farm
        most = max(task.back for task in (*farm.asks, *farm.tasks))
        return {"op": "closing", "master": farm.master, "ranks": list(farm.workers), "last": farm.last, "bytes": most}

    def _tasks(self) -> list[Task]:
        """Spread evenly over all tasks, and made as long as these are in the mean."""
        every = self.farm.tasks
        n = min(self.given, _MOST_TASKS)
        chosen = [every[(2 * place + 1) * len(every) // (2 * n)] for place in range(n)]
        here, there = fmean(task.seconds for task in chosen), fmean(task.seconds for task in every)
        scale = self.size * (there / here if here > 0 else 1.0)
        return [Task(task.seconds * scale, task.back, task.out) for task in chosen]


def shortened(farm: Farm, part: float) -> ShortFarm:
    """The farm with about `part` of its tasks; with two for each worker at least, which are made smaller then."""
    most, idle = len(farm.tasks), farm.idle
    given = min(most, max(2 * len(farm.workers), idle + round(part * (most - idle))))
    wanted, played = part * (most - idle), given - idle
    size = wanted / played if played > _ROUNDED * wanted else 1.0
    return ShortFarm(farm, given, size, played * size / (most - idle))
