"""What others do, drawn at random as a value: jobs that come to nodes, and messages between them.

Source: Selection 1999, 4.2. Compute jobs come to every node as a Poisson process; their lengths are part exponential,
part Pareto, as Harchol-Balter and Downey found (a process that has lived for a second lives longer than T seconds with
a probability of about 1/T). Messages come between random nodes as a Poisson process, with LogNormal lengths. The paper
gives no parameters; those here are ours, set so that a job or a message outlasts the measurement that sees it. Nothing
here waits, starts or sends. The same `rng` gives the same sequence.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobModel:
    """`gap`: mean seconds between jobs of one node; with probability `short` a length is exponential of mean `mean`
    seconds, else Pareto of shape `shape` from `least` to at most `most` seconds."""

    gap: float = 12.0
    short: float = 0.5
    mean: float = 2.0
    shape: float = 1.0
    least: float = 4.0
    most: float = 120.0

    def length(self, rng: random.Random) -> float:
        """Seconds of one job."""
        if rng.random() < self.short:
            return rng.expovariate(1.0 / self.mean)
        kept = 1.0 - (self.least / self.most) ** self.shape  # what is longer than `most` is not drawn
        return float(self.least * (1.0 - rng.random() * kept) ** (-1.0 / self.shape))


@dataclass(frozen=True, slots=True)
class MessageModel:
    """`gap`: mean seconds between messages on the whole network; LogNormal length of median `median` bytes, `sigma` of
    its logarithm. `rate` (bit/s) is what a message of before the beginning is taken to have had."""

    gap: float = 2.2
    median: float = 30e6
    sigma: float = 1.2
    rate: float = 50e6

    def size(self, rng: random.Random) -> int:
        """Bytes of one message."""
        return max(1, round(rng.lognormvariate(math.log(self.median), self.sigma)))


@dataclass(frozen=True, slots=True)
class Job:
    """A busy process on `node` from `at` on for `length` seconds."""

    at: float
    node: str
    length: float


@dataclass(frozen=True, slots=True)
class Message:
    """`size` bytes from `source` to `target`, sent from `at` (seconds) on."""

    at: float
    source: str
    target: str
    size: int


def jobs(seed: int, nodes: Sequence[str], model: JobModel, before: float = 600.0) -> Iterator[Job]:
    """The endless sequence in order of time. What came in the `before` seconds ahead of 0 and has not ended is at 0.

    Every node draws for itself, so the jobs of one do not depend on which others there are.
    """
    return heapq.merge(*(_jobs(seed, node, model, before) for node in nodes), key=lambda job: job.at)


def _jobs(seed: int, node: str, model: JobModel, before: float) -> Iterator[Job]:
    rng = random.Random(f"{seed}/{node}")  # noqa: S311 - a draw that can be repeated
    at = -before
    while True:
        at += rng.expovariate(1.0 / model.gap)
        length = model.length(rng)
        if at + length > 0:
            yield Job(max(0.0, at), node, length + min(0.0, at))


def messages(seed: int, nodes: Sequence[str], model: MessageModel, before: float = 120.0) -> Iterator[Message]:
    """The endless sequence in order of time; of what came before 0 the rest is sent at 0."""
    rng = random.Random(seed)  # noqa: S311
    at = -before
    while True:
        at += rng.expovariate(1.0 / model.gap)
        source, target = rng.sample(list(nodes), 2)
        size = model.size(rng) + round(min(0.0, at) * model.rate / 8)
        if size > 0:
            yield Message(max(0.0, at), source, target, size)
