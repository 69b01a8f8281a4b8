"""Which segments are the same but for a little: their kind plays the mean of what they send and of what they compute.

Programs whose messages change a little from step to step (particles that cross borders) would have a kind for each size
else. Each would be too rare to run in its place among the others, and what ranks wait for each other would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from scheduling.skeletons.core.skeleton.ops import Op

Ops = tuple[tuple[Op, ...], ...]

#: Sizes up to this many bytes are one size, for no network takes longer for them than its latency;
_SMALL = 1024
#: up to this many those are one size of which the larger is this many times the smaller, and above those that differ by
#: less than this factor.
_MEDIUM, _TRIPLE = 16384, 3.0
_SIMILAR = 1.1
#: Work that differs by this factor is the same work, as is all that is shorter than this, in seconds.
_FACTOR = 2.0
_SHORT = 2e-3


def shape(ops: Ops) -> Ops:
    """The operations without their sizes."""
    return tuple(tuple(replace(op, bytes=0, recv_bytes=0, counts=(0,) * len(op.counts)) for op in line) for line in ops)


def similar_sizes(ops: Ops, others: Ops) -> bool:
    """Whether all sizes of operations of one shape are similar.

    >>> similar_size(50_000, 46_000), similar_size(65_000, 66_000), similar_size(50_000, 40_000), similar_size(0, 900)
    (True, False, False, True)
    """
    return all(map(similar_size, _all_sizes(ops), _all_sizes(others)))


def similar_size(one: int, other: int) -> bool:
    """Whether two sizes in bytes count as the same."""
    smaller, larger = sorted((one, other))
    if larger <= _MEDIUM:
        return larger <= max(_SMALL, _TRIPLE * smaller)
    return _limit(one) == _limit(other) and larger <= _SIMILAR * smaller


def _limit(size: int) -> int:
    """The power of two up to which it is: at these MPIs change their ways, so sizes on two sides of one are two."""
    return (max(size, _MEDIUM) - 1).bit_length()


def similar_work(work: Iterable[Iterable[float]], others: Iterable[Iterable[float]]) -> bool:
    """Whether all seconds of work, by rank and operation, are similar."""
    return all(
        max(one, other) <= max(_SHORT, _FACTOR * min(one, other))
        for line, other_line in zip(work, others, strict=True)
        for one, other in zip(line, other_line, strict=True)
    )


def mean_sizes(variants: Mapping[Ops, int]) -> Ops:
    """Operations of one shape, each with the mean of its sizes; of all variants it is told how often they ran.

    A message is as long at both of its ends, for both have the mean of the same executions.
    """
    first = next(iter(variants))
    if len(variants) == 1:
        return first
    times = list(variants.values())
    return tuple(tuple(_mean(each, times) for each in zip(*line, strict=True)) for line in zip(*variants, strict=True))


def _mean(ops: Sequence[Op], times: Sequence[int]) -> Op:
    counts = tuple(_mean_size(sizes, times) for sizes in zip(*(op.counts for op in ops), strict=True))
    return replace(
        ops[0],
        bytes=_mean_size([op.bytes for op in ops], times),
        recv_bytes=_mean_size([op.recv_bytes for op in ops], times),
        counts=counts,
    )


def _mean_size(sizes: Sequence[int], times: Sequence[int]) -> int:
    """In whole elements of 8, 4 or 2 bytes, if all are: a sum needs whole numbers of them."""
    if all(one == other for one, other in pairwise(sizes)):
        return sizes[0]
    unit = next(unit for unit in (8, 4, 2, 1) if not any(size % unit for size in sizes))
    mean = sum(size * n for size, n in zip(sizes, times, strict=True)) / sum(times)
    return unit * round(mean / unit)


def _all_sizes(ops: Ops) -> Iterator[int]:
    for line in ops:
        for op in line:
            yield op.bytes
            yield op.recv_bytes
            yield from op.counts
