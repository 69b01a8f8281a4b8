"""Which labels of an axis are written, so that they do not stand on each other on a narrow page."""

from __future__ import annotations

from collections.abc import Sequence

#: The part of the axis that a label needs for itself where a page is 375 pixels wide.
_ROOM = 0.09


def spread(places: Sequence[float], first: Sequence[int] = ()) -> list[bool]:
    """Of labels at these places, in rising order, those that stay: the ends and those at the indexes of `first`, then
    from left to right each that has room.

    >>> spread([1, 2, 4, 8, 16, 128])
    [True, False, False, False, True, True]
    """
    room = _ROOM * (places[-1] - places[0]) if places else 0.0
    kept: list[int] = []
    for at in [0, len(places) - 1, *first, *range(len(places))] if places else []:
        if all(abs(places[at] - places[other]) >= room for other in kept if other != at):
            kept.append(at)
    return [at in kept for at in range(len(places))]
