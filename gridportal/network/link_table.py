"""Many links as columns, which look like a sequence of links: a million measured pairs need no million objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gridportal.network.topology import Link

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")


_COLUMNS = ("source", "target", "capacity", "bandwidth", "latency", "used", "low", "high", "measured_at")


@dataclass(frozen=True, eq=False)
class LinkTable(Sequence[Link]):
    """Links in the order of a file; each is made when it is asked for.

    names: of the topology's nodes. source, target: the places of the ends there. capacity, bandwidth: bit/s; latency:
    seconds. used, low, high, measured_at: as of a link, NaN where it has none. origin: of each.
    """

    names: Sequence[str]
    source: Ints
    target: Ints
    capacity: Floats
    bandwidth: Floats
    latency: Floats
    used: Floats
    low: Floats
    high: Floats
    measured_at: Floats
    origin: Sequence[str]

    def __len__(self) -> int:
        return len(self.source)

    @overload
    def __getitem__(self, place: int) -> Link: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Link, ...]: ...
    def __getitem__(self, place: int | slice) -> Link | tuple[Link, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(len(self))))
        return Link(
            self.names[self.source[place]],
            self.names[self.target[place]],
            self.capacity.item(place),
            self.bandwidth.item(place),
            self.latency.item(place),
            _or_none(self.used.item(place)),
            _or_none(self.low.item(place)),
            _or_none(self.high.item(place)),
            _or_none(self.measured_at.item(place)),
            self.origin[place],
        )

    def __iter__(self) -> Iterator[Link]:
        return map(
            Link,
            (self.names[place] for place in self.source.tolist()),
            (self.names[place] for place in self.target.tolist()),
            self.capacity.tolist(),
            self.bandwidth.tolist(),
            self.latency.tolist(),
            _with_none(self.used),
            _with_none(self.low),
            _with_none(self.high),
            _with_none(self.measured_at),
            self.origin,
        )

    def pair_places(self, *, directed: bool) -> Ints:
        """As the function of this name, for all names; made once."""

        def made() -> Ints:
            found = pair_places(self.source, self.target, len(self.names), directed=directed)
            found.setflags(write=False)
            return found

        return self.once("pairs", directed, made)

    def once(self, name: str, key: object, make: Callable[[], T]) -> T:
        """What `make` makes of these links, and the same again as long as it is asked for with an equal key."""
        known = self._made.get(name)
        if known is None or known[0] != key:
            known = self._made[name] = key, make()
        found: T = known[1]
        return found

    @cached_property
    def _made(self) -> dict[str, tuple[object, Any]]:
        return {}

    def at(self, places: Ints) -> LinkTable:
        """The links at these places alone."""
        columns = {name: getattr(self, name)[places] for name in _COLUMNS}
        return replace(self, **columns, origin=[self.origin[place] for place in places.tolist()])

    def among(self, names: Collection[str]) -> LinkTable:
        """The links between two of these nodes alone."""
        kept = np.fromiter((name in names for name in self.names), np.bool_, len(self.names))
        return self.at(np.flatnonzero(kept[self.source] & kept[self.target]))

    def without_measurements(self) -> LinkTable:
        """The same links, of which nobody says between what their bandwidth lies, nor when and by whom it was
        measured."""
        none = np.full(len(self), np.nan)
        return replace(self, low=none, high=none, measured_at=none, origin=[""] * len(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_equal, self, other))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self))


def latencies(links: Sequence[Link]) -> Floats:
    """Of each link, seconds."""
    if isinstance(links, LinkTable):
        return links.latency
    return np.array([link.latency for link in links], dtype=np.float64)


def pair_places(source: Ints, target: Ints, count: int, *, directed: bool) -> Ints:
    """count x count: which link is that of each pair of ends, of several the first, -1 without one; links with an end
    of -1 do not count. O(count^2 + links)."""
    last_first = np.flatnonzero((source >= 0) & (target >= 0))[::-1]
    u, v = source[last_first], target[last_first]
    places = np.full((count, count), -1, dtype=np.int64)
    if directed:
        places[u, v] = last_first
    else:
        both = np.stack((u, v), axis=1), np.stack((v, u), axis=1)
        places[both[0].ravel(), both[1].ravel()] = np.repeat(last_first, 2)
    np.fill_diagonal(places, -1)
    return places


def _equal(one: Link, other: object) -> bool:
    return one == other


def _with_none(column: Floats) -> list[float | None]:
    if np.isnan(column).all():
        return [None] * len(column)
    return list(map(_or_none, column.tolist()))


def _or_none(number: float) -> float | None:
    return None if number != number else number
