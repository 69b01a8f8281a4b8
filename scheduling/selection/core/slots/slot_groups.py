"""The best placements where several ranks may be on a node, or where some ranks may only be on some nodes.

Not in the papers, which place one rank on each node. Quick placements first (the best groups of nodes, filled or cut
into blocks of ranks), steps that improve them, and the exact search where it is small enough; a bound tells when no
placement can be worth more, which on networks without cycles it does for every pattern that is connected.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from scheduling.selection.core.pairs.pair_groups import Ticker
from scheduling.selection.core.pattern_columns import degrees
from scheduling.selection.core.slots import slot_starts
from scheduling.selection.core.slots.seating import matched
from scheduling.selection.core.slots.slot_moves import SlotMoves
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.slots.slot_scores import SlotScores
from scheduling.selection.core.slots.slot_search import BestSets, SlotSearch
from scheduling.selection.core.threshold import Clock, Group, OutOfTime, Ranked
from scheduling.selection.core.trees.usable_network import Floats, Ints

#: For more ranks the exact search is not tried.
EXACT_RANKS = 24
#: Parts of the time: until steps give way to the exact search, and of the rest for the order among equals.
STEPS_SHARE, EQUALS_SHARE = 0.5, 0.25
#: So many starts are improved step by step, the best first.
IMPROVED = 8


@dataclass(frozen=True)
class SlotProblem:
    """What to place where. first: n x n, the first aim by pairs, on the diagonal what a node is worth to a rank. bound:
    more than that no placement is worth by the first component of the scores."""

    scores: SlotScores
    room: Room
    first: Floats
    bound: float


def best_on_slots(
    problem: SlotProblem,
    groups: Iterable[Ints],
    k: int,
    *,
    starts: Sequence[Group] = (),
    rng: random.Random,
    clock: Clock,
    deadline: float,
) -> list[Ranked]:
    """The `k` best node sets, each with its best placement of the ranks, best first; fewer when there are fewer.

    groups: nodes to start from, with slots enough; `starts`: placements to start from. Finds: the optimum of the first
    component of the score, marked as proved, where the search ends in time or the bound is met; else the best of what
    was seen. Of equal value the one that is best by the other components is preferred, proved only where the exact
    search ends. Never worse than the groups' nodes filled in rank order. Raises OutOfTime where time ended before there
    was a placement.
    """
    now = clock()
    steps = Ticker(clock, now + STEPS_SHARE * (deadline - now), every=1)
    sets = BestSets(k)
    moves = SlotMoves(problem.scores, problem.room, sets, rng=rng, tick=steps)
    _improve(moves, [*starts, *_starts(problem, groups, steps, has_some=bool(starts))])
    has_ended = _search(problem, sets, clock, deadline)
    if not has_ended and not sets.placements:
        raise OutOfTime
    return [Ranked(score[0], group, has_ended or score[0] >= problem.bound) for score, group in sets.best()]


def _starts(problem: SlotProblem, groups: Iterable[Ints], tick: Ticker, *, has_some: bool) -> list[Group]:
    """Placements on the groups' nodes, in rank order first; as many as there is time for, one at least unless there
    are some already."""
    room, pattern = problem.room, problem.scores.pattern
    found: dict[Group, None] = {}
    blocks: dict[tuple[int, ...], list[list[int]]] = {}
    try:
        for nodes in [*groups, *slot_starts.grown_groups(problem.first, room, pattern.ranks)]:
            found[slot_starts.filled(nodes, room, pattern.ranks)] = None
            tick()
            for even in (False, True):
                found[slot_starts.blocked(nodes, room, pattern, blocks, even=even)] = None
            tick()
    except OutOfTime:
        has_time = False
    else:
        has_time = True
    held = [group for group in found if room.holds(group)]
    if has_time or not (held or has_some):
        order = _order(problem)
        more = (
            slot_starts.greedy(problem.scores, room, order),
            matched(room, np.diagonal(problem.first), pattern.ranks) if room.domains is not None else None,
        )
        held += [group for group in filter(None, more) if room.holds(group)]
    return held


def _order(problem: SlotProblem) -> list[int]:
    """Ranks with the fewest places first, then the busiest."""
    pattern = problem.scores.pattern
    busy = degrees(pattern).tolist()
    places = [len(problem.room.allows(rank)) for rank in range(pattern.ranks)]
    return sorted(range(pattern.ranks), key=lambda rank: (places[rank], -busy[rank], rank))


def _improve(moves: SlotMoves, starts: Sequence[Group]) -> None:
    """The best starts step by step; one score may take a tenth of a second, so each is looked at once, in time."""
    scored = []
    with suppress(OutOfTime):
        for group in dict.fromkeys(starts):
            scored.append((moves.score(group), group))
            moves.sets.keep(group, scored[-1][0])
            moves.tick()
    for _, group in sorted(scored, key=lambda each: each[0], reverse=True)[:IMPROVED]:
        moves.improved(group)
    for _, group in moves.sets.best()[:1]:
        moves.vary(group)


def _search(problem: SlotProblem, sets: BestSets, clock: Clock, deadline: float) -> bool:
    """Whether the best node sets by the first component are proved; the order among equals as far as time allows."""
    if problem.scores.pattern.ranks > EXACT_RANKS:
        return False
    components = len(problem.scores.start().score)
    is_met = sets.floor is not None and sets.floor[0] >= problem.bound
    search = SlotSearch(problem.scores, problem.room, sets, Ticker(clock, deadline, every=16))
    has_ended = is_met or search.run(1)
    if has_ended:
        now = clock()
        search.tick = Ticker(clock, now + EQUALS_SHARE * (deadline - now), every=16)
        search.run(components)
    return has_ended
