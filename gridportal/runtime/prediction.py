"""How long the application would take, from what the ranks of a skeleton have seen (Pattern 2003, 2.5).

Every execution of a segment counts as often as the application runs it (see gridportal.runtime.virtual_time), and the
application's work takes the pace that work has here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gridportal.runtime.virtual_time import Executions, Floats, steady, stretched, waiting

#: Work shorter than this is too little to tell the pace.
_ENOUGH_WORK = 1e-3


@dataclass(frozen=True, slots=True)
class RankTimes:
    """What a rank has seen, in seconds: of the skeleton, of its own work and what that was asked for, and of each
    execution a row: when it came to the first call and when it was through, on rank 0's clock, and its work before that
    call and in all."""

    seconds: float
    worked: float
    asked: float
    log: Floats


def prediction(document: Mapping[str, Any], ranks: Sequence[RankTimes]) -> dict[str, float]:
    """Seconds of the skeleton, and of the rank for which it predicts the most.

    These are the seconds that it predicts for the application (in MPI and at work), and those of its own work (what it
    took, and what it was asked for). O(executions * ranks log ranks).
    """
    order, loops = executions(document["schedule"])
    runs = Counter(order)
    segments, application = document["segments"], document["application"]
    weights = [each["times"] / (max(1, runs[number]) * each["part"]) for number, each in enumerate(segments)]
    waits = [waiting(each, document["comms"]) for each in segments]
    found = Executions(*(np.stack([rank.log[:, column] for rank in ranks]) for column in range(4)))
    _end_with_their_master(segments, order, found)
    clock, worked, latest = stretched(order, weights, waits, found)
    recorded = sum(each["times"] * np.array(each["inside"]) for each in segments)
    seen = clock - worked
    unseen = np.array(application["unseen"]) * np.divide(seen, recorded, out=np.ones_like(seen), where=recorded > 0)
    paces = [rank.worked / rank.asked if rank.asked >= _ENOUGH_WORK else 1.0 for rank in ranks]
    part = steady(latest, loops)
    alone = np.array(application["work"]) - np.array(application.get("farmed", 0.0))
    communicating = part * (seen + unseen)
    working = part * (alone * np.array(paces) + _farmed(segments, order, weights, found))
    rank = int(np.argmax(communicating + working))
    return {
        "seconds": max(each.seconds for each in ranks),
        "predicted": float(communicating[rank] + working[rank]),
        "communicating": float(communicating[rank]),
        "working": float(working[rank]),
        "work": ranks[rank].worked,
        "work_asked": ranks[rank].asked,
    }


def _end_with_their_master(segments: Sequence[Mapping[str, Any]], order: Sequence[int], found: Executions) -> None:
    """For the workers of a farm, too, all tasks are given when its master has given them: to get the last one late is
    to be late once, not as often as the farm stands for."""
    masters = [
        next((op["master"] for line in each["ranks"] for op in line if op["op"] == "master"), None) for each in segments
    ]
    for k, number in enumerate(order):
        master = masters[number]
        if master is not None:
            np.minimum(found.ended[:, k], found.ended[master, k], out=found.ended[:, k])


def _farmed(
    segments: Sequence[Mapping[str, Any]], order: Sequence[int], weights: Sequence[float], found: Executions
) -> Floats:
    """Seconds of work of each rank in farms: who does how much of it is found out here, and no trace knows."""
    farms = [any("ranks" in op for line in segment["ranks"] for op in line) for segment in segments]
    counted = np.array([weights[number] * farms[number] for number in order])
    return found.worked @ counted  # type: ignore[no-any-return]


def executions(schedule: Sequence[Any]) -> tuple[list[int], list[list[int]]]:
    """The segments' numbers in the order in which they run, and of each outermost loop how many executions there were
    before each of its rounds and after the last.

    >>> executions([0, {"loop": 2, "body": [1, 2]}])
    ([0, 1, 2, 1, 2], [[1, 3, 5]])
    """
    order: list[int] = []
    loops: list[list[int]] = []
    for node in schedule:
        if isinstance(node, int):
            order.append(node)
            continue
        rounds = _body(node["body"])
        first = len(order)
        loops.append([first + turn * len(rounds) for turn in range(node["loop"] + 1)])
        order.extend(rounds * node["loop"])
    return order, loops


def _body(body: Sequence[Any]) -> list[int]:
    order: list[int] = []
    for node in body:
        order.extend([node] if isinstance(node, int) else _body(node["body"]) * node["loop"])
    return order
