"""Numbers of ranks that a program can be cut for; refused alike on every rank, before any communicates."""

from __future__ import annotations

from gridportal.base.errors import InputError


def power_of_two(ranks: int, most: int) -> int:
    """The exponent of `ranks`. Raises InputError unless it is a power of two up to `most`.

    >>> power_of_two(8, 64)
    3
    """
    if ranks < 1 or ranks > most or ranks & (ranks - 1):
        raise InputError("ranks", ranks, f"a power of two such as 1, 2, 4 or 8, at most {most}")
    return ranks.bit_length() - 1
