"""Where nodes are drawn: on a circle for a crossbar, as a tree around its middle for a network of links."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

Places = dict[str, tuple[float, float]]
#: Leaves nearer to each other than that, in lengths of a link, are drawn in several arcs.
_APART = 0.08


def circle(names: Sequence[str]) -> Places:
    """Evenly on the unit circle, the first at the top, clockwise.

    >>> circle(["a", "b"])["b"]
    (0.0, -1.0)
    """
    step = 2 * math.pi / max(1, len(names))
    return {name: (round(math.sin(i * step), 4), round(math.cos(i * step), 4)) for i, name in enumerate(names)}


def radial(names: Sequence[str], ends: Iterable[tuple[str, str]], middle: Sequence[str]) -> Places:
    """A tree (or the breadth-first tree of any graph) drawn outwards from its most central network node.

    Each subtree gets an angle in proportion to its leaves. Leaves that would touch on one arc stand in several, so
    that thousands can be told apart. A part that hangs on nothing goes around the outside.
    """
    near: dict[str, list[str]] = {name: [] for name in names}
    for a, b in ends:
        if b not in near[a]:
            near[a].append(b)
            near[b].append(a)
    if not names:
        return {}
    root = _centre(near, middle) if middle else names[0]
    children, order = _tree(near, root)
    leaves = _leaves(children, order)
    places: Places = {root: (0.0, 0.0)}
    wedges = {root: (0.0, 2 * math.pi, 0)}
    for name in order:
        start, width, depth = wedges[name]
        ends_here = [child for child in children[name] if not children[child]]
        taken = width * len(ends_here) / leaves[name]
        places |= _fan(ends_here, start, taken, depth + 1)
        wedges |= dict.fromkeys(ends_here, (start, 0.0, depth + 1))
        start += taken
        for child in (child for child in children[name] if children[child]):
            share = width * leaves[child] / leaves[name]
            places[child] = _polar(start + share / 2, depth + 1)
            wedges[child] = (start, share, depth + 1)
            start += share
    lost = [name for name in names if name not in places]
    reach = 1 + max(math.hypot(x, y) for x, y in places.values())
    return places | {name: (x * reach, y * reach) for name, (x, y) in circle(lost).items()}


def _fan(leaves: Sequence[str], start: float, width: float, depth: int) -> Places:
    """Leaves in a wedge: on one arc while there is room, else in as many as let them stand apart alike both ways."""
    if not leaves:
        return {}
    arc = 0.92 * width * (depth + 0.3)
    rows = 1 if arc / len(leaves) >= _APART else max(1, round(math.sqrt(len(leaves) / max(arc, _APART))))
    across = -(-len(leaves) // rows)
    places = {}
    for place, name in enumerate(leaves):
        row, column = divmod(place, across)
        here = min(across, len(leaves) - row * across)
        angle = start + width * (0.5 + 0.92 * ((column + 0.5) / here - 0.5))
        places[name] = _polar(angle, depth + (row / rows if rows > 1 else 0.0))
    return places


def _polar(angle: float, radius: float) -> tuple[float, float]:
    return round(radius * math.cos(angle), 4), round(radius * math.sin(angle), 4)


def _centre(near: Mapping[str, Sequence[str]], middle: Sequence[str]) -> str:
    """The network node whose farthest node is nearest; of many, the best connected of the first hundred."""
    tried = sorted(middle, key=lambda name: -len(near[name]))[:100]
    return min(tried, key=lambda name: (_farthest(near, name), tried.index(name)))


def _farthest(near: Mapping[str, Sequence[str]], start: str) -> int:
    seen, waiting = {start: 0}, deque([start])
    while waiting:
        name = waiting.popleft()
        for other in near[name]:
            if other not in seen:
                seen[other] = seen[name] + 1
                waiting.append(other)
    return max(seen.values())


def _tree(near: Mapping[str, Sequence[str]], root: str) -> tuple[dict[str, list[str]], list[str]]:
    children: dict[str, list[str]] = {root: []}
    order, waiting = [], deque([root])
    while waiting:
        name = waiting.popleft()
        order.append(name)
        for other in near[name]:
            if other not in children:
                children[other] = []
                children[name].append(other)
                waiting.append(other)
    return children, order


def _leaves(children: Mapping[str, Sequence[str]], order: Sequence[str]) -> dict[str, int]:
    count: dict[str, int] = {}
    for name in reversed(order):
        count[name] = sum(count[child] for child in children[name]) or 1
    return count
