"""Which ranks go together on a node: a partition of the pattern into blocks of given sizes that cut little weight.

Not in the papers, which place one rank on a node (Selection 1999, 3.1: a compute node is one processor). Blocks are cut
off by recursive bisection: each half grows from a rank at the edge, and exchanges of two ranks improve it (B. W.
Kernighan and S. Lin, An efficient heuristic procedure for partitioning graphs, 1970).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations, product

from scheduling.jobs.core.patterns import Pattern

#: Passes of exchanges between two blocks, exchanges in a pass, and how many ranks of each side are looked at for one.
PASSES, MOST_EXCHANGES, LOOKED_AT = 6, 128, 4
#: Rounds over all pairs of blocks.
ROUNDS = 3
Beside = Sequence[dict[int, float]]


def weights_beside(pattern: Pattern) -> list[dict[int, float]]:
    """For each rank its partners with the weight of what they exchange."""
    beside: list[dict[int, float]] = [{} for _ in range(pattern.ranks)]
    for a, b, weight in pattern.edges:
        beside[a][b] = beside[b][a] = weight
    return beside


def rank_blocks(pattern: Pattern, sizes: Sequence[int]) -> list[list[int]]:
    """Blocks of ranks of these sizes, which add up to the pattern's ranks, with little weight between blocks.

    Finds: no more weight between blocks than in rank order; does not promise the least. Ranks in a block rise. Where
    all pairs talk alike every partition is the same, and rank order is taken. Cost: O(edges) for each level of halves
    and each round of exchanges.

    >>> pairs = Pattern("pairs", 4, ((0, 2, 5.0), (1, 3, 5.0), (0, 1, 1.0)))
    >>> sorted(rank_blocks(pairs, [2, 2]))
    [[0, 2], [1, 3]]
    """
    in_order = _in_order(range(pattern.ranks), sizes)
    if len(sizes) < 2 or pattern.is_uniform:
        return in_order
    beside = weights_beside(pattern)
    halved = _halved(list(range(pattern.ranks)), list(sizes), beside)
    options = [_refined(blocks, beside) for blocks in (in_order, halved)]
    best = min(options, key=lambda blocks: cut_weight(pattern, blocks))
    return [sorted(block) for block in best]


def cut_weight(pattern: Pattern, blocks: Sequence[Sequence[int]]) -> float:
    """The weight between ranks of different blocks."""
    block_of = {rank: number for number, block in enumerate(blocks) for rank in block}
    return sum(weight for a, b, weight in pattern.edges if block_of[a] != block_of[b])


def quotient(pattern: Pattern, blocks: Sequence[Sequence[int]]) -> Pattern:
    """The pattern between blocks: one edge where any of their ranks talk, with all that they exchange.

    >>> quotient(Pattern("p", 3, ((0, 1, 1.0), (0, 2, 2.0), (1, 2, 4.0))), [[0, 1], [2]]).edges
    ((0, 1, 6.0),)
    """
    if pattern.is_uniform and pattern.edges:
        return _uniform_quotient(pattern, [len(block) for block in blocks])
    block_of = {rank: number for number, block in enumerate(blocks) for rank in block}
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for a, b, weight in pattern.edges:
        low, high = sorted((block_of[a], block_of[b]))
        if low != high:
            weights[low, high] += weight
    return Pattern(pattern.name, len(blocks), tuple((a, b, w) for (a, b), w in sorted(weights.items())))


def _uniform_quotient(pattern: Pattern, sizes: Sequence[int]) -> Pattern:
    """The same from the sizes of the blocks alone, where all pairs talk alike."""
    weight = pattern.edges[0][2]
    pairs = combinations(range(len(sizes)), 2)
    return Pattern(pattern.name, len(sizes), tuple((a, b, weight * sizes[a] * sizes[b]) for a, b in pairs))


def _in_order(ranks: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    blocks, start = [], 0
    for size in sizes:
        blocks.append(list(ranks[start : start + size]))
        start += size
    return blocks


def _halved(ranks: list[int], sizes: list[int], beside: Beside) -> list[list[int]]:
    """Blocks of these sizes out of these ranks: the sizes in two halves, the ranks grown for the first, and so on."""
    if len(sizes) == 1:
        return [ranks]
    middle = len(sizes) // 2
    first = _grown(ranks, sum(sizes[:middle]), beside)
    inside = set(first)
    rest = [rank for rank in ranks if rank not in inside]
    first, rest = _exchanged(first, rest, beside)
    return _halved(sorted(first), sizes[:middle], beside) + _halved(sorted(rest), sizes[middle:], beside)


def _grown(ranks: list[int], size: int, beside: Beside) -> list[int]:
    """So many of the ranks, grown from one with little to its partners: each time the rank with the most to those that
    are taken, compared with what it has to the others. O(edges * log ranks)."""
    left = set(ranks)
    outside = {rank: sum(w for other, w in beside[rank].items() if other in left) for rank in ranks}
    inside = dict.fromkeys(ranks, 0.0)
    quiet = iter(sorted(ranks, key=lambda rank: (outside[rank], rank)))
    near: list[tuple[float, int]] = []  # what is not true any more stays there until it comes up
    taken: list[int] = []
    while len(taken) < size:
        best = _nearest(near, left, inside, outside)
        if best is None:
            best = next(rank for rank in quiet if rank in left)
        taken.append(best)
        left.discard(best)
        for other, weight in beside[best].items():
            if other in left:
                inside[other] += weight
                heappush(near, (outside[other] - 2 * inside[other], other))
    return taken


def _nearest(
    near: list[tuple[float, int]], left: set[int], inside: Mapping[int, float], outside: Mapping[int, float]
) -> int | None:
    """The rank with the most inside compared with outside; None where none has a partner that is taken."""
    while near:
        less, rank = heappop(near)
        if rank in left and less == outside[rank] - 2 * inside[rank]:
            return rank
    return None


def _refined(blocks: list[list[int]], beside: Beside) -> list[list[int]]:
    """Exchanges between every two blocks that talk, until none helps; two that are as they were are left alone."""
    blocks = [list(block) for block in blocks]
    block_of = {rank: number for number, block in enumerate(blocks) for rank in block}
    changed, seen, time = [1] * len(blocks), dict[tuple[int, int], int](), 1
    for _ in range(ROUNDS):
        pairs = {
            (min(block_of[a], block_of[b]), max(block_of[a], block_of[b])) for a in block_of for b in beside[a] if a < b
        }
        for x, y in sorted(pair for pair in pairs if pair[0] != pair[1]):
            if max(changed[x], changed[y]) <= seen.get((x, y), 0):
                continue
            time += 1
            seen[x, y] = time
            first, second = _exchanged(blocks[x], blocks[y], beside)
            if first != blocks[x]:
                changed[x] = changed[y] = time
                blocks[x], blocks[y] = first, second
                block_of |= dict.fromkeys(first, x) | dict.fromkeys(second, y)
    return blocks


def _exchanged(first: list[int], second: list[int], beside: Beside) -> tuple[list[int], list[int]]:
    """Two blocks after passes of exchanges of one rank each, as long as a pass cuts less weight between them."""
    for _ in range(PASSES):
        swaps = _pass(first, second, beside)
        if not swaps:
            break
        there = dict(swaps) | {b: a for a, b in swaps}
        first, second = [there.get(rank, rank) for rank in first], [there.get(rank, rank) for rank in second]
    return first, second


def _pass(first: list[int], second: list[int], beside: Beside) -> list[tuple[int, int]]:
    """The exchanges that gain most in all when each rank is exchanged once at most, also where some first lose."""
    gain = _gains(first, second, beside)
    left, right = _Side(first, gain), _Side(second, gain)
    swaps: list[tuple[int, int]] = []
    total = best = 0.0
    kept = 0
    while left.ranks and right.ranks and len(swaps) < MOST_EXCHANGES:
        a, b = max(
            product(left.foremost(), right.foremost()),
            key=lambda pair: gain[pair[0]] + gain[pair[1]] - 2 * beside[pair[0]].get(pair[1], 0.0),
        )
        total += gain[a] + gain[b] - 2 * beside[a].get(b, 0.0)
        swaps.append((a, b))
        left.ranks.discard(a)
        right.ranks.discard(b)
        _move(a, left, right, beside)
        _move(b, right, left, beside)
        if total > best + 1e-12:
            best, kept = total, len(swaps)
    return swaps[:kept]


class _Side:
    """The ranks of one of two blocks that were not exchanged yet, with those in front whose exchange gains most."""

    def __init__(self, ranks: list[int], gain: dict[int, float]) -> None:
        self.ranks, self.gain = set(ranks), gain
        self._falling = [(-gain[rank], rank) for rank in ranks]
        heapify(self._falling)

    def foremost(self) -> list[int]:
        """The few with the largest gain, of equals the first."""
        found: list[int] = []
        while self._falling and len(found) < LOOKED_AT:
            less, rank = heappop(self._falling)
            if rank in self.ranks and less == -self.gain[rank] and rank not in found:
                found.append(rank)
        for rank in found:
            heappush(self._falling, (-self.gain[rank], rank))
        return found

    def add(self, rank: int, more: float) -> None:
        """Let a rank gain so much more."""
        self.gain[rank] += more
        heappush(self._falling, (-self.gain[rank], rank))


def _move(rank: int, own: _Side, other: _Side, beside: Beside) -> None:
    """Its partners on the side that it leaves gain by following it; those on the other side lose by leaving."""
    for partner, weight in beside[rank].items():
        if partner in own.ranks:
            own.add(partner, 2 * weight)
        elif partner in other.ranks:
            other.add(partner, -2 * weight)


def _gains(first: list[int], second: list[int], beside: Beside) -> dict[int, float]:
    """By how much less is cut between the two if a rank changes sides."""
    sides = (set(first), set(second))
    gain = {}
    for own, other in (sides, sides[::-1]):
        for rank in own:
            partners = beside[rank].items()
            gain[rank] = sum(w for one, w in partners if one in other) - sum(w for one, w in partners if one in own)
    return gain
