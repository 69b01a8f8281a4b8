"""The run of all ranks cut into segments that stand alone: no message, request or collective crosses a cut.

A cut is a position on every rank. Whatever was begun before a clean cut is over before it, so a segment may be left out
or repeated and the rest still fits together: that is why a skeleton made of segments cannot deadlock where the program
did not. The cuts are the finest ones that move every rank on. O(events).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduling.skeletons.core.skeleton.replay import Meeting

Cut = tuple[int, ...]


def cuts(lengths: Sequence[int], meeting: Meeting) -> Iterator[Cut]:
    """The clean cuts in order, from all zeros to `lengths`.

    >>> list(cuts([2, 2], Meeting([{0: [(1, 0)], 1: [(1, 1)]}, {0: [(0, 0)], 1: [(0, 1)]}], [{}, {}])))
    [(0, 0), (1, 1), (2, 2)]
    """
    here = [0] * len(lengths)
    yield tuple(here)
    while any(done < length for done, length in zip(here, lengths, strict=True)):
        _close(here, [min(done + 1, length) for done, length in zip(here, lengths, strict=True)], meeting)
        yield tuple(here)


def _close(here: list[int], wanted: list[int], meeting: Meeting) -> None:
    """Move `here` on to `wanted` and to all that this brings with it."""
    moving = list(range(len(here)))
    while moving:
        rank = moving.pop()
        partners = meeting.partners[rank]
        while here[rank] < wanted[rank]:
            for other, position in partners.get(here[rank], ()):
                if position >= wanted[other]:
                    wanted[other] = position + 1
                    moving.append(other)
            here[rank] += 1
