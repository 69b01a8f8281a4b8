"""The name of a pattern of communication: the same graph as a known one, or the same but for the order of the ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gridportal.base.errors import InputError
from scheduling.jobs.core import patterns

OWN = "own"
#: Of a program whose bytes say nothing, for it sends many short messages: which pairs talk is no more than a hint.
LATENCY = "latency"
MAX_RELABELLED = 16
_STEPS = 20_000
#: Two ranks that talk are the same graph as a ring, a line, a star, all-to-all and an exchange of neighbours of two.
PAIRS = "pairs"

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Recognized:
    """`name` of the pattern, "own" for none, "latency" where messages are short; `order`: where ranks must be renamed,
    the rank that plays each of its."""

    name: str
    order: tuple[int, ...] = ()


def recognize(ranks: int, pairs: Iterable[Pair]) -> Recognized:
    """The first pattern of scheduling.jobs.core.patterns that is this graph; up to 16 ranks also after renaming ranks.

    Two ranks are a pair: of two every pattern is the same graph, and that name claims nothing else.
    General shapes are asked before those of the NAS programs, so that CG's three pairs on four ranks are a line.

    >>> recognize(4, [(0, 1), (1, 2), (2, 3)]).name, recognize(4, [(0, 2), (2, 1), (1, 3)])
    ('line', Recognized(name='line', order=(0, 2, 1, 3)))
    """
    wanted = frozenset((min(pair), max(pair)) for pair in pairs)
    candidates = list(_known(ranks))
    for name, graph in candidates:
        if graph == wanted:
            return Recognized(name)
    if ranks <= MAX_RELABELLED:
        for name, graph in candidates:
            order = _relabelled(ranks, graph, wanted)
            if order is not None:
                return Recognized(name, order)
    return Recognized(OWN)


def _known(ranks: int) -> Iterator[tuple[str, frozenset[Pair]]]:
    for name in sorted(patterns.NAMES, key=lambda name: ranks == 2 and name != PAIRS):
        try:
            found = patterns.named(name, ranks)
        except InputError:
            continue  # it cannot have so many ranks
        yield name, frozenset((a, b) for a, b, _ in found.edges)


def _relabelled(ranks: int, graph: frozenset[Pair], wanted: frozenset[Pair]) -> tuple[int, ...] | None:
    """order[r] is the rank of `wanted` that plays rank r of `graph`; None for none in 20,000 steps."""
    here, there = _beside(ranks, graph), _beside(ranks, wanted)
    if sorted(map(len, here)) != sorted(map(len, there)):
        return None
    steps = 0

    def place(order: list[int]) -> tuple[int, ...] | None:
        nonlocal steps
        steps += 1
        if len(order) == ranks or steps > _STEPS:
            return tuple(order) if len(order) == ranks else None
        rank = len(order)
        for candidate in range(ranks):
            if candidate not in order and _fits(candidate, rank, order, here, there):
                found = place([*order, candidate])
                if found is not None:
                    return found
        return None

    return place([])


def _fits(candidate: int, rank: int, order: list[int], here: Sequence[set[int]], there: Sequence[set[int]]) -> bool:
    if len(here[rank]) != len(there[candidate]):
        return False
    return all((before in here[rank]) == (order[before] in there[candidate]) for before in range(len(order)))


def _beside(ranks: int, graph: frozenset[Pair]) -> list[set[int]]:
    beside: list[set[int]] = [set() for _ in range(ranks)]
    for a, b in graph:
        beside[a].add(b)
        beside[b].add(a)
    return beside
