"""The messages between ranks that a collective call is made of.

MPI leaves the algorithm to the library. The rules here are those that MPICH chooses by size (R. Thakur,
R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005); Open MPI's differ in
thresholds only:

    Bcast           binomial tree; from 12 KiB and 8 ranks on: binomial scatter, then allgather
    Reduce          binomial tree to 2 KiB; above: recursive halving, then binomial gather
    Allreduce       recursive doubling to 2 KiB; above: recursive halving, then recursive doubling
    Gather, Scatter binomial tree; their v kinds straight to or from the root
    Allgather       recursive doubling below 80 KiB in all on 2^k ranks, Bruck on others; above: ring; v the same
    Alltoall        Bruck to 256 bytes a pair from 8 ranks on; else, and its v and w kinds, one message to each
    Reduce_scatter  recursive halving below 512 KiB on 2^k ranks; else one message to each
    Scan, Exscan    recursive doubling
    Barrier         dissemination, without bytes

On other than 2^k ranks recursive doubling and halving first fold the odd ranks in, and hand them the result at last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

#: A message to `rank of the communicator`: (rank, bytes).
Sent = tuple[int, float]

_BCAST_LONG, _BCAST_RANKS, _BCAST_RING = 12288.0, 8, 524288.0
_REDUCE_LONG, _GATHER_LONG, _ALLTOALL_SHORT, _SCATTER_LONG = 2048.0, 81920.0, 256.0, 524288.0


def sends(name: str, me: int, p: int, size: float, root: int, counts: Sequence[float] = ()) -> list[Sent]:
    """What rank `me` of `p` sends in one classic collective `name` ("Bcast", "Alltoallv", ...).

    `size`, `counts`: bytes as in scheduling.profiles.core.trace; `root` in ranks of the
    communicator. Unknown names: nothing.

    >>> sends("Bcast", 0, 4, 100.0, 0)
    [(2, 100.0), (1, 100.0)]
    """
    rule = _RULES.get(name)
    return [] if rule is None or p < 2 else [(to % p, n) for to, n in rule(me, p, size, root, counts)]


def _low_bit(number: int, p: int) -> int:
    """The lowest bit that is set; for 0 the first power of two that is not below `p`."""
    return number & -number if number else 1 << (p - 1).bit_length()


def _children(me: int, p: int, root: int) -> Iterator[tuple[int, int]]:
    """The children of a rank in the binomial tree, and how many ranks hang on each."""
    mine = (me - root) % p
    step = _low_bit(mine, p) >> 1
    while step:
        if mine + step < p:
            yield (mine + step + root) % p, min(step, p - mine - step)
        step >>= 1


def _parent(me: int, p: int, root: int) -> tuple[int, int] | None:
    """The parent of a rank in the binomial tree, and how many ranks hang on the rank itself."""
    mine = (me - root) % p
    if not mine:
        return None
    low = _low_bit(mine, p)
    return (mine - low + root) % p, min(low, p - mine)


def _bcast(me: int, p: int, size: float, root: int, _: Sequence[float]) -> Iterator[Sent]:
    if size < _BCAST_LONG or p < _BCAST_RANKS:
        yield from ((child, size) for child, _ in _children(me, p, root))
        return
    yield from _scatter(me, p, size / p, root, ())
    yield from _allgather_by(size < _BCAST_RING and not p & (p - 1), me, p, size / p)


def _scatter(me: int, p: int, size: float, root: int, _: Sequence[float]) -> Iterator[Sent]:
    yield from ((child, size * below) for child, below in _children(me, p, root))


def _gather(me: int, p: int, size: float, root: int, _: Sequence[float]) -> Iterator[Sent]:
    if (up := _parent(me, p, root)) is not None:
        yield up[0], size * up[1]


def _scatterv(me: int, p: int, _size: float, root: int, counts: Sequence[float]) -> Iterator[Sent]:
    if me == root:
        yield from ((to, counts[to]) for to in range(min(p, len(counts))) if to != me)


def _gatherv(me: int, _p: int, size: float, root: int, _: Sequence[float]) -> Iterator[Sent]:
    if me != root:
        yield root, size


def _reduce(me: int, p: int, size: float, root: int, _: Sequence[float]) -> Iterator[Sent]:
    if size > _REDUCE_LONG:
        yield from _halving(me, p, size)
        yield from _gather(me, p, size / p, root, ())
    elif (up := _parent(me, p, root)) is not None:
        yield up[0], size


def _allreduce(me: int, p: int, size: float, _root: int, _: Sequence[float]) -> Iterator[Sent]:
    if size <= _REDUCE_LONG:
        yield from _core(me, p, size, lambda _step: size)
    else:
        yield from _core(me, p, size, lambda step: size / (2 * step))
        yield from (message for message in _core(me, p, 0.0, lambda step: size / (2 * step)) if message[1])


def _core(me: int, p: int, whole: float, part: Callable[[int], float]) -> Iterator[Sent]:
    """Exchanges over distances 1, 2, 4, ... of `part(distance)` bytes among the 2^k ranks that remain when the odd ones
    were folded in with `whole` bytes."""
    power = 1 << (p.bit_length() - 1)
    extra = p - power
    if me < 2 * extra and me % 2 == 0:
        if whole:
            yield me + 1, whole
        return
    mine = me // 2 if me < 2 * extra else me - extra
    step = 1
    while step < power:
        other = mine ^ step
        yield (2 * other + 1 if other < extra else other + extra), part(step)
        step *= 2
    if me < 2 * extra and whole:
        yield me - 1, whole


def _halving(me: int, p: int, size: float) -> Iterator[Sent]:
    yield from _core(me, p, size, lambda step: size / (2 * step))


def _scan(me: int, p: int, size: float, _root: int, _: Sequence[float]) -> Iterator[Sent]:
    step = 1
    while step < p:
        if me ^ step < p:
            yield me ^ step, size
        step *= 2


def _allgather(me: int, p: int, size: float, _root: int, counts: Sequence[float]) -> Iterator[Sent]:
    total = sum(counts) if counts else size * p
    if total >= _GATHER_LONG:
        passed = total - (counts[(me + 1) % p] if counts else size)  # all blocks but the one that the next one has
        yield from ((me + 1, passed / (p - 1)) for _ in range(p - 1))
    else:
        yield from _allgather_by(not p & (p - 1), me, p, total / p)


def _allgather_by(doubling: bool, me: int, p: int, block: float) -> Iterator[Sent]:
    """Recursive doubling, or where that cannot be Bruck's for short and a ring for long ones."""
    step = 1
    if not doubling and block * p >= _GATHER_LONG:
        yield from ((me + 1, block) for _ in range(p - 1))
        return
    while step < p:
        yield (me ^ step if doubling else me - step), block * min(step, p - step)
        step *= 2


def _alltoall(me: int, p: int, size: float, _root: int, counts: Sequence[float]) -> Iterator[Sent]:
    block = size / p
    if counts or p < 8 or block > _ALLTOALL_SHORT:
        sizes = counts or [block] * p
        yield from ((to, sizes[to]) for to in range(p) if to != me)
        return
    step = 1
    while step < p:
        yield me + step, block * sum(1 for other in range(p) if other & step)
        step *= 2


def _reduce_scatter(me: int, p: int, size: float, _root: int, counts: Sequence[float]) -> Iterator[Sent]:
    if size < _SCATTER_LONG and not p & (p - 1):
        step = p // 2
        while step:
            yield me ^ step, size * step / p
            step //= 2
    else:
        sizes = counts or [size / p] * p
        yield from ((to, sizes[to]) for to in range(p) if to != me)


def _barrier(me: int, p: int, _size: float, _root: int, _: Sequence[float]) -> Iterator[Sent]:
    step = 1
    while step < p:
        yield me + step, 0.0
        step *= 2


_RULES: dict[str, Callable[[int, int, float, int, Sequence[float]], Iterator[Sent]]] = {
    "Barrier": _barrier,
    "Bcast": _bcast,
    "Gather": _gather,
    "Gatherv": _gatherv,
    "Scatter": _scatter,
    "Scatterv": _scatterv,
    "Allgather": _allgather,
    "Allgatherv": _allgather,
    "Alltoall": _alltoall,
    "Alltoallv": _alltoall,
    "Alltoallw": _alltoall,
    "Reduce": _reduce,
    "Allreduce": _allreduce,
    "Reduce_scatter": _reduce_scatter,
    "Reduce_scatter_block": _reduce_scatter,
    "Scan": _scan,
    "Exscan": _scan,
}
