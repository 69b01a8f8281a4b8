"""What two ways to deal out one dimension have in common: which elements of one part of the old way are in which part
of the new one, as pieces that repeat.

The pieces of two block-cyclic ways repeat with the least common multiple of their periods, so that their number depends
on blocks and parts and not on the length of the array. Within that, the short period of one way repeats inside the long
runs of the other (cyclic into block is a piece for each pair of parts, not for each element).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gridportal.runtime.srs.dealing import Dealing, Places, Runs


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Pieces that part source[i] of the old way and part target[i] of the new way share; arrays of one length.

    A piece is size[i] consecutive elements, again inner[i] times, and all of that again outer[i] times. It begins at
    the parts' own elements source_place[i] and target_place[i]; each repetition is source_inner[i] (source_outer[i])
    elements further on in the old part, and target_inner[i] (target_outer[i]) in the new one.
    """

    source: Places
    target: Places
    source_place: Places
    target_place: Places
    size: Places
    inner: Places
    source_inner: Places
    target_inner: Places
    outer: Places
    source_outer: Places
    target_outer: Places

    def elements(self, sources: int, targets: int) -> Places:
        """How many elements each pair of parts shares: an array of sources x targets."""
        shared = np.zeros((sources, targets), dtype=np.int64)
        np.add.at(shared, (self.source, self.target), self.size * self.inner * self.outer)
        return shared

    def between(self, source: int, target: int) -> Overlaps:
        """Those of one pair of parts."""
        return self._kept((self.source == source) & (self.target == target))

    def of_target(self, target: int) -> Overlaps:
        """Those of one part of the new way."""
        return self._kept(self.target == target)

    def _kept(self, wanted: Places) -> Overlaps:
        return Overlaps(*(getattr(self, name)[wanted] for name in self.__slots__))

    def joined(self, other: Overlaps) -> Overlaps:
        """These and the others."""
        return Overlaps(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in self.__slots__))


def overlaps(old: Dealing, new: Dealing, length: int) -> Overlaps:
    """The pieces that parts of `old` and `new` share when `length` elements are dealt out in both ways.

    Finds every element once. Cost and number of pieces: O(runs of both ways in their common period), which is no longer
    than the array. Raises InputError for a length that one of them does not accept.

    >>> from gridportal.runtime.srs.dealing import BlockCyclic
    >>> overlaps(BlockCyclic(2, 1), BlockCyclic(2), 1000).elements(2, 2).tolist()
    [[250, 250], [250, 250]]
    """
    old.check(length)
    new.check(length)
    sources, targets = old.runs(length), new.runs(length)
    span = math.lcm(sources.period, targets.period)
    if span >= length:
        return _within(sources, targets, length)
    times, rest = divmod(length, span)
    source_step, target_step = _step(sources, span), _step(targets, span)
    repeated = _within(sources, targets, span)
    repeated = _replaced(
        repeated,
        outer=np.full_like(repeated.size, times),
        source_outer=source_step[repeated.source],
        target_outer=target_step[repeated.target],
    )
    ending = _within(sources, targets, rest)
    ending = _replaced(
        ending,
        source_place=ending.source_place + times * source_step[ending.source],
        target_place=ending.target_place + times * target_step[ending.target],
    )
    return repeated.joined(ending)


def most_pieces(old: Dealing, new: Dealing, length: int) -> int:
    """How many pieces `overlaps` would look at, but for a factor of 6 at most; O(parts)."""
    sources, targets = old.runs(length), new.runs(length)
    span = min(math.lcm(sources.period, targets.period), length)
    olds, news = (len(runs.starts) * -(-span // runs.period) for runs in (sources, targets))
    if targets.period < _shortest(sources):
        return olds * len(targets.starts)
    if sources.period < _shortest(targets):
        return news * len(sources.starts)
    return olds + news


def distinct(values: Places) -> Places:
    """The values in rising order, each once. As np.unique, which imports numpy.ma when it is first called: a rank that
    reads 10 MB waits for that as long as for 1 MB (0.1 s on a busy node).

    >>> distinct(np.array([3, 1, 3])).tolist(), distinct(np.array([])).tolist()
    ([1, 3], [])
    """
    ordered = np.sort(values)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]


def _step(runs: Runs, span: int) -> Places:
    """By how many of its own elements each part goes on in `span` elements, some whole periods."""
    return runs.steps * (span // runs.period)


def _within(old: Runs, new: Runs, span: int) -> Overlaps:
    """The pieces of the first `span` elements, none of them with outer repetitions."""
    if new.period < _shortest(old):
        return _inside(old.until(span), new, span)
    if old.period < _shortest(new):
        return _turned(_inside(new.until(span), old, span))
    return _cut(old.until(span), new.until(span), span)


def _shortest(runs: Runs) -> float:
    """The usual length of a run."""
    return runs.period / max(1, len(runs.starts))


def _cut(old: Runs, new: Runs, span: int) -> Overlaps:
    """Cut where a run of either begins."""
    starts = distinct(np.concatenate([old.starts, new.starts]))
    sizes = np.diff(np.append(starts, span))
    mine = np.searchsorted(old.starts, starts, side="right") - 1
    yours = np.searchsorted(new.starts, starts, side="right") - 1
    one, none = np.ones_like(starts), np.zeros_like(starts)
    return Overlaps(
        source=old.owners[mine],
        target=new.owners[yours],
        source_place=old.places[mine] + starts - old.starts[mine],
        target_place=new.places[yours] + starts - new.starts[yours],
        size=sizes,
        inner=one,
        source_inner=none,
        target_inner=none,
        outer=one,
        source_outer=none,
        target_outer=none,
    )


def _inside(long: Runs, short: Runs, span: int) -> Overlaps:
    """Runs of `short`, which repeat often within each of `long`, as the targets of these.

    Each pair of runs gives what lies whole in the long one, and at most a rest at its beginning and one at its end.
    """
    begin, end = long.starts[:, None], np.append(long.starts[1:], span)[:, None]
    sizes = np.diff(np.append(short.starts, short.period))
    first = -((short.starts - begin) // short.period)  # the first repetition that begins in the run
    behind = -((short.starts + sizes - end) // short.period)  # the first one that does not end in it
    last = np.maximum(behind, first)
    pieces = _pieces(long, short, begin, first, last - first, short.starts, sizes)
    head = short.starts + (first - 1) * short.period + sizes  # where that before the first one ends
    heads = _pieces(
        long, short, begin, first - 1, (head > begin) * 1, short.starts, sizes, begin, np.minimum(head, end)
    )
    tail = short.starts + last * short.period
    begins_inside = (tail < end) & (tail >= begin)
    tails = _pieces(long, short, begin, last, begins_inside * 1, short.starts, sizes, tail, end)
    return pieces.joined(heads).joined(tails)


def _pieces(
    long: Runs,
    short: Runs,
    begin: Places,
    repetition: Places,
    times: Places,
    starts: Places,
    sizes: Places,
    low: Places | None = None,
    high: Places | None = None,
) -> Overlaps:
    """From `repetition` on `times` repetitions of each short run in each long one, cut to low..high where these are."""
    run, piece = np.nonzero(times > 0)
    at = (starts + repetition * short.period)[run, piece]
    size = sizes[piece]
    cut = np.zeros_like(size)
    if low is not None and high is not None:
        lowest = np.broadcast_to(low, times.shape)[run, piece]
        cut = np.maximum(lowest - at, 0)
        size = np.minimum(np.broadcast_to(high, times.shape)[run, piece], at + size) - at - cut
    source, target = long.owners[run], short.owners[piece]
    one, none = np.ones_like(run), np.zeros_like(run)
    return Overlaps(
        source=source,
        target=target,
        source_place=long.places[run] + at + cut - begin[run, 0],
        target_place=short.places[piece] + repetition[run, piece] * short.steps[target] + cut,
        size=size,
        inner=times[run, piece],
        source_inner=none + short.period,
        target_inner=short.steps[target],
        outer=one,
        source_outer=none,
        target_outer=none,
    )


def _turned(pieces: Overlaps) -> Overlaps:
    """The same with old and new exchanged."""
    return Overlaps(
        **{
            name: getattr(pieces, name.replace("source", "\0").replace("target", "source").replace("\0", "target"))
            for name in pieces.__slots__
        }
    )


def _replaced(pieces: Overlaps, **columns: Places) -> Overlaps:
    return Overlaps(*(columns.get(name, getattr(pieces, name)) for name in pieces.__slots__))
