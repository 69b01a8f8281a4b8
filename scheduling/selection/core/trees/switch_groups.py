"""Switches that stand close together, as routers of one group of a dragonfly: joined, and with the same neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from scheduling.selection.core.trees.usable_network import Ints

#: Two joined switches belong together whose neighbours, with themselves, are the same to this part. In a balanced
#: dragonfly routers of one group come to a half; neighbours in a mesh or torus of switches to 0.4 at most.
ALIKE = 0.45


def close_switches(head: Ints, tail: Ints) -> Iterator[tuple[int, int]]:
    """Pairs of switches that belong together. `head`, `tail`: the ends of the arcs between switches, in both
    directions. Cost: O(arcs * links of a switch).

    >>> import numpy as np
    >>> tail = np.array([0, 0, 1, 1, 2, 2, 2, 3]); head = np.array([1, 2, 0, 2, 0, 1, 3, 2])
    >>> sorted(close_switches(head, tail))
    [(0, 1), (0, 2), (1, 2), (2, 3)]
    """
    beside: dict[int, set[int]] = {}
    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        beside.setdefault(a, {a}).add(b)
        beside.setdefault(b, {b}).add(a)
    for a, others in beside.items():
        for b in others:
            if a < b and len(others & beside[b]) >= ALIKE * len(others | beside[b]):
                yield a, b
