"""How far a weighing is that somebody waits for (the steps of Migration 2003, 6.2)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class WeighingStage(StrEnum):
    """What is done. The database column holds these words."""

    WAITING = "waiting"  # others are weighed first
    CHOOSING = "choosing"  # fresh figures, and a new schedule for each number of ranks
    PREDICTING = "predicting"  # ret_new and the cost of each choice


#: Told before each step: what is done, how many of it are done, and how many there are.
Watcher = Callable[[WeighingStage, int, int], None]


def unwatched(stage: WeighingStage, done: int, total: int) -> None:
    """Nobody waits for it."""
