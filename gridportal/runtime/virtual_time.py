"""How long the whole application takes, from a run in which each execution of a segment stands for many of its own.

To multiply what a segment took by what it stands for would multiply waiting too, in whatever segment it shows: a rank
that was held up by a slow link in a segment that stands for 16 makes another wait in the next, which may stand for 28.
So every rank has a virtual clock. What a rank did itself advances its clock as often as the segment stands for; whom
it waited for it meets at the later of both clocks, as in the simulation of a trace from the times of its parts.

Something else that stops the machine for a moment would be multiplied as well. Where a loop has many rounds, they are
divided into blocks, and one that took more than half as much again as most of them counts as these: ranks that wait
for small messages have faster and slower moments, which the application has too, but a machine that stood still is not
one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ranks = np.ndarray[Any, np.dtype[np.int64]]
Held = np.ndarray[Any, np.dtype[np.bool_]]

#: From this size on a send waits for its receiver; smaller ones are on their way at once (what MPICH and Open MPI do
#: over TCP differs by some kilobytes).
_RENDEZVOUS = 65536
#: Into so many blocks a loop's rounds are divided, where each has at least that many.
_BLOCKS = 9
_ROUNDS = 4
#: A block of more than so many times the median of the blocks counts with the median. Programs that wait for small
#: messages were seen to be 1.35 times as slow in one half second as in another, all of their run long.
_SLOWEST = 1.5
#: Up to so many ranks all pairs are looked at, in blocks of executions with so many pairs; more would cost more.
_MOST_DENSE = 32
_MOST_CELLS = 4_000_000
_FROM_ROOT = frozenset({"bcast", "scatter", "scatterv"})
_TO_ROOT = frozenset({"reduce", "gather", "gatherv"})


@dataclass(frozen=True, slots=True)
class Executions:
    """What the ranks did, (ranks, executions) each, in seconds on one clock: when they came to the first call of an
    execution and when they were through with it, and their work in it: before that call, and in all."""

    arrived: Floats
    ended: Floats
    first: Floats
    worked: Floats


@dataclass(frozen=True, slots=True)
class Waiting:
    """Who may wait for whom in a segment: `waiter[i]` for `other[i]`, and the first of a pair for all of the second."""

    waiter: Ranks
    other: Ranks
    groups: tuple[tuple[Ranks, Ranks], ...]
    active: Ranks


def waiting(segment: Mapping[str, Any], comms: Mapping[str, Sequence[int]]) -> Waiting:
    """Who may wait for whom in a segment of a skeleton's document."""
    pairs: set[tuple[int, int]] = set()
    groups: dict[tuple[Any, ...], tuple[list[int], Sequence[int]]] = {}
    for rank, line in enumerate(segment["ranks"]):
        for op in line:
            if "comm" in op:
                root = op.get("root")
                if op["op"] in _FROM_ROOT and root is not None:
                    pairs.add((rank, root))
                elif op["op"] not in _TO_ROOT or root is None or root == rank:
                    groups.setdefault((op["comm"], root), ([], comms[op["comm"]]))[0].append(rank)
                continue
            if op["op"] == "closing":
                pairs.update((rank, other) for other in (op["ranks"] if rank == op["master"] else [op["master"]]))
            elif "ranks" in op:  # a farm is played by all of its ranks together
                groups.setdefault(("farm", op["master"]), ([], [op["master"], *op["ranks"]]))[0].append(rank)
            if "from" in op:
                pairs.add((rank, op["from"]))
            if "to" in op and (op["op"] == "ssend" or op["bytes"] >= _RENDEZVOUS):
                pairs.add((rank, op["to"]))
    ordered = sorted(pairs)
    return Waiting(
        np.array([rank for rank, _ in ordered], dtype=np.int64),
        np.array([other for _, other in ordered], dtype=np.int64),
        tuple((np.array(sorted(set(who))), np.array(members)) for who, members in groups.values()),
        np.array([rank for rank, line in enumerate(segment["ranks"]) if line], dtype=np.int64),
    )


def stretched(
    order: Sequence[int], weights: Sequence[float], waits: Sequence[Waiting], executions: Executions
) -> tuple[Floats, Floats, Floats]:
    """Seconds of each rank, those of them that are work, and after each execution those of the rank that is the last in
    the end, when execution k counts weights[order[k]] times.

    Of that rank alone, for one that is ahead of it a while would hide what its first rounds took. `order` are the
    segments' numbers in the order of their executions. O(executions * ranks log ranks).
    """
    ranks = len(executions.arrived)
    clock, working = np.zeros(ranks), np.zeros(ranks)
    after = np.zeros((len(order), ranks))
    step = _dense_steps if ranks <= _MOST_DENSE else _sparse_steps
    for k, (number, met, rest) in enumerate(step(order, weights, waits, executions)):
        here, weight = waits[number].active, weights[number]
        reached = met(clock + weight * executions.first[:, k])
        clock[here] = reached[here] + rest[here]
        working[here] += weight * executions.worked[here, k]
        after[k] = clock
    return clock, working, after[:, clock.argmax()]


#: What advances the clocks at an execution: its segment, where ranks meet by their virtual clocks, seconds from there.
_Step = tuple[int, Callable[[Floats], Floats], Floats]


def _sparse_steps(
    order: Sequence[int], weights: Sequence[float], waits: Sequence[Waiting], executions: Executions
) -> Iterator[_Step]:
    """For many ranks, of which each waits for few."""
    for k, number in enumerate(order):
        arrived, ended = executions.arrived[:, k], executions.ended[:, k]
        last = _last(waits[number], arrived, ended, arrived)[0]
        rest = weights[number] * np.maximum(0.0, ended - last)
        yield number, partial(_met, waits[number], arrived, ended), rest


def _dense_steps(
    order: Sequence[int], weights: Sequence[float], waits: Sequence[Waiting], executions: Executions
) -> Iterator[_Step]:
    """For few ranks: who really held up whom in many executions at a time."""
    ranks = len(executions.arrived)
    every = np.stack([_matrix(who, ranks) for who in waits])
    block = max(1, _MOST_CELLS // ranks**2)
    for first in range(0, len(order), block):
        numbers = np.asarray(order[first : first + block])
        arrived = executions.arrived.T[first : first + block]
        ended = executions.ended.T[first : first + block]
        held = every[numbers] & (arrived[:, None, :] <= ended[:, :, None])
        held |= np.eye(ranks, dtype=bool)
        last = np.where(held, arrived[:, None, :], -np.inf).max(axis=2)
        rest = np.asarray(weights)[numbers, None] * np.maximum(0.0, ended - last)
        for k, number in enumerate(numbers):
            yield int(number), partial(_highest, held[k]), rest[k]


def _matrix(who: Waiting, ranks: int) -> Held:
    """Whether the first rank may wait for the second."""
    held = np.zeros((ranks, ranks), dtype=bool)
    held[who.waiter, who.other] = True
    for waiters, members in who.groups:
        held[np.ix_(waiters, members)] = True
    return held


def _highest(held: Held, virtual: Floats) -> Floats:
    return np.where(held, virtual, -np.inf).max(axis=1)  # type: ignore[no-any-return]


def _met(who: Waiting, arrived: Floats, ended: Floats, virtual: Floats) -> Floats:
    return _last(who, arrived, ended, virtual)[1]


def steady(latest: Floats, loops: Sequence[Sequence[int]]) -> float:
    """The part of the whole time that remains when a block of a loop's rounds that was held up counts as most of them.

    `latest` as `stretched` gives it. A loop is how many executions there were before each of its rounds and after the
    last. 1 where no loop has enough rounds for blocks.

    >>> rounds = np.ones(36)
    >>> rounds[7] = 10.0  # one round was held up
    >>> float(steady(np.cumsum(rounds), [range(37)]) * rounds.sum())
    36.0
    """
    before = np.concatenate([[0.0], latest])
    surplus = 0.0
    for loop in loops:
        rounds = np.diff(before[np.asarray(loop)])
        if len(rounds) >= _BLOCKS * _ROUNDS:
            blocks = np.array_split(rounds, _BLOCKS)
            means = np.array([block.mean() for block in blocks])
            usual = np.median(means)
            over = np.where(means > _SLOWEST * usual, means - usual, 0.0)
            surplus += float(over @ [len(block) for block in blocks])
    return float(1.0 - surplus / before[-1]) if before[-1] > 0 else 1.0


def _last(who: Waiting, arrived: Floats, ended: Floats, virtual: Floats) -> tuple[Floats, Floats]:
    """When the last of those came for whom each rank may have waited, itself included: really, and by their clocks.

    Who came after a rank was through did not hold it up.
    """
    last, met = arrived.copy(), virtual.copy()
    before = arrived[who.other] <= ended[who.waiter]
    waiter, other = who.waiter[before], who.other[before]
    np.maximum.at(last, waiter, arrived[other])
    np.maximum.at(met, waiter, virtual[other])
    for waiters, members in who.groups:
        order = members[np.argsort(arrived[members], kind="stable")]
        highest = np.maximum.accumulate(virtual[order])
        place = np.searchsorted(arrived[order], ended[waiters], side="right") - 1
        came, there = waiters[place >= 0], place[place >= 0]
        last[came] = np.maximum(last[came], arrived[order][there])
        met[came] = np.maximum(met[came], highest[there])
    return last, met
