"""The peer of the search on pairs: igraph's LAD in a binary search over the distinct rates, as users would write it."""

from __future__ import annotations

import multiprocessing
import resource
import time
from dataclasses import dataclass

import igraph
import numpy as np

from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.trees.usable_network import Floats


@dataclass(frozen=True)
class Answer:
    """Processor seconds, and the highest lowest rate; None where the limit ended it."""

    seconds: float
    value: float | None


def best_by_lad(rates: Floats, pattern: Pattern, limit: int) -> Answer:
    """In a process of its own that may use `limit` seconds of processor time: LAD's own limit is gone in igraph 1.0."""
    context = multiprocessing.get_context("fork")
    answers, answer = context.Pipe(duplex=False)

    def ask() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        started = time.process_time()
        value = _best(rates, pattern)
        answer.send(Answer(time.process_time() - started, value))

    process = context.Process(target=ask)
    process.start()
    answer.close()
    try:
        return answers.recv()
    except EOFError:
        return Answer(limit, None)
    finally:
        process.join()


def _best(rates: Floats, pattern: Pattern) -> float:
    wanted = igraph.Graph(n=pattern.ranks, edges=[(a, b) for a, b, _ in pattern.edges])
    upper = np.triu_indices(len(rates), 1)
    values = rates[upper]
    pairs = np.stack(upper, axis=1)
    levels = np.unique(values)
    low, high = 0, len(levels)  # of connected nodes: the lowest level always fits
    while high - low > 1:
        middle = (low + high) // 2
        graph = igraph.Graph(n=len(rates), edges=pairs[values >= levels[middle]])
        fits, _ = graph.subisomorphic_lad(wanted, return_mapping=True)
        low, high = (middle, high) if fits else (low, middle)
    return float(levels[low])
