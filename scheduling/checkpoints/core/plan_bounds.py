"""How large a plan of redistribution may be, so that it ends in seconds. Programs have no bounds."""

from __future__ import annotations

from gridportal.base.errors import InputError
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.overlaps import most_pieces
from gridportal.runtime.srs.redistribution import Redistribution, widened

#: Ranks of a layout, as many as a job can have; pieces that two layouts share in a dimension; messages.
MOST_RANKS, MOST_PIECES, MOST_MESSAGES = 4096, 2**20, 2**18


def bounded(old: Layout, new: Layout, shape: tuple[int, ...]) -> Redistribution:
    """The way from `old` to `new`. Raises InputError for a plan that is too large, in no time.

    >>> from gridportal.runtime.srs.layouts import parsed
    >>> bounded(parsed("cyclic:2"), parsed("block:3"), (10**15,)).message_count()
    6
    >>> bounded(parsed("cyclic:4096"), parsed("block-cyclic:2:4095"), (10**15,))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gridportal.base.errors.InputError: to is 'block-cyclic:2:4095'; accepted is a layout that shares at most ...
    """
    for field, layout in (("from", old), ("to", new)):
        if layout.ranks > MOST_RANKS:
            raise InputError(field, layout.text, f"a layout for at most {MOST_RANKS:,} ranks")
    dealt = zip(widened(old, len(shape)).dealings, widened(new, len(shape)).dealings, shape, strict=True)
    if max((most_pieces(*each) for each in dealt), default=0) > MOST_PIECES:
        raise InputError("to", new.text, f"a layout that shares at most {MOST_PIECES:,} pieces with {old.text}")
    way = Redistribution(old, new, shape)
    if way.message_count() > MOST_MESSAGES:
        raise InputError("to", new.text, f"a layout with at most {MOST_MESSAGES:,} messages from {old.text}")
    return way
