"""From figures of pairs and interfaces to a topology that carries them: value, extremes, age and origin on each link.

Source: Selection 1999, 2.2: Remos answers for a fixed window of history, for the current conditions, or with an
estimate of the future availability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from gridportal.network.estimate import LinkRate, link_rates
from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import LinkTable
from gridportal.network.topology import Link, Node, Topology

#: The longest window of history, in seconds.
LONGEST = 400 * 86400.0
Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class When:
    """Which moment a question is about: now, the past `seconds`, or what comes next: the next sample of each series, or
    with `seconds` the mean over so many."""

    kind: Literal["now", "window", "forecast"] = "now"
    seconds: float = 0.0

    def __str__(self) -> str:
        if self.kind == "window":
            return f"over the past {_duration(self.seconds)}"
        if self.kind == "forecast":
            return f"as forecast over the next {_duration(self.seconds)}" if self.seconds else "as forecast"
        return "now"


NOW = When()
FORECAST = When("forecast")


def window(seconds: float) -> When:
    """The past `seconds`. Raises InputError unless they are above 0 and no more than are kept anywhere."""
    if not 0 < seconds <= LONGEST:
        raise InputError("window", seconds, f"a number of seconds above 0 and up to {LONGEST:.0f}")
    return When("window", seconds)


def forecast_over(seconds: float) -> When:
    """The mean over the next `seconds`, as forecast. Raises InputError unless they are above 0 and no more than a past
    window may have."""
    if not 0 < seconds <= LONGEST:
        raise InputError("ahead", seconds, f"a number of seconds above 0 and up to {LONGEST:.0f}")
    return When("forecast", seconds)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: its value, the extremes between which it was or will be, when it was measured (Unix seconds), and
    where it comes from (probe, counter, window, forecast)."""

    value: float
    low: float | None = None
    high: float | None = None
    at: float | None = None
    origin: str = ""


def with_figures(
    topology: Topology,
    pairs: Mapping[Ends, Figure],
    *,
    direct: Mapping[Ends, Figure] | None = None,
    used: Mapping[Ends, float] | None = None,
    cpus: Mapping[str, Figure] | None = None,
) -> Topology:
    """The topology with its links' available bandwidth from what was found end to end between `pairs` of nodes.

    A link has the figure of the fastest pair that crosses it, at most its capacity, as gridportal.network.estimate
    argues, or, where that pair was held elsewhere, what its own traffic leaves of its capacity; a link with a `direct`
    figure of its own has that; a link that nothing crossed keeps what it had. `used`: bit/s that are sent over a link,
    by its direction; a link that serves both directions has the larger. `cpus`: available fraction of compute nodes.
    """
    if isinstance(topology.links, LinkTable) and not pairs and not direct and not cpus:
        return replace(topology, links=_with_used(topology.links, used or {}, directed=topology.directed))
    measured = list(pairs.items())
    shown = link_rates(topology, [(ends, figure.value) for ends, figure in measured])
    links = []
    for place, link in enumerate(topology.links):
        ends, back = (link.source, link.target), (link.target, link.source)
        own = (direct or {}).get(ends) or (None if topology.directed else (direct or {}).get(back))
        carried = [(used or {}).get(way) for way in ((ends,) if topology.directed else (ends, back))]
        most = max((rate for rate in carried if rate is not None), default=None)
        now = link if most is None else replace(link, used=most)
        links.append(_figured(now, own) if own else _estimated(now, shown.get(place), measured))
    nodes = tuple(_with_cpu(node, (cpus or {}).get(node.id)) for node in topology.nodes)
    return replace(topology, nodes=nodes, links=tuple(links))


def _with_used(links: LinkTable, used: Mapping[Ends, float], *, directed: bool) -> LinkTable:
    """A table of links with what is sent over each; a link that serves both directions has the larger."""
    place = {name: number for number, name in enumerate(links.names)}
    count = len(place)
    known = [(place[a] * count + place[b], rate) for (a, b), rate in used.items() if a in place and b in place]
    ways, rates = np.array([way for way, _ in known], dtype=np.int64), np.array([rate for _, rate in known])
    order = np.argsort(ways)
    ways, rates = ways[order], rates[order]

    def of(keys: NDArray[np.int64]) -> NDArray[np.float64]:
        at = np.minimum(np.searchsorted(ways, keys), max(len(ways) - 1, 0))
        return np.where(ways[at] == keys, rates[at], np.nan) if len(ways) else np.full(len(keys), np.nan)

    most = of(links.source * count + links.target)
    if not directed:
        most = np.fmax(most, of(links.target * count + links.source))
    return replace(links, used=np.where(np.isnan(most), links.used, most))


def of_interfaces(topology: Topology, rates: Mapping[tuple[str, str], float]) -> dict[Ends, float]:
    """Bit/s sent over links, by direction, from counters: (subject, metric) with the metrics tx and rx.

    A subject "a>b" is the direction of a link itself. A node's interface ("n1:eth0") is its link when it has just one
    of each; with several nobody says which is which, so they tell nothing.
    """
    neighbours = _only_neighbours(topology)
    interfaces: dict[str, set[str]] = {}
    for subject, _ in rates:
        node, colon, interface = subject.partition(":")
        if colon:
            interfaces.setdefault(node, set()).add(interface)
    used: dict[Ends, float] = {}
    for (subject, metric), rate in rates.items():
        node, colon, _ = subject.partition(":")
        source, arrow, target = subject.partition(">")
        if arrow and not colon and metric == "tx":
            used[source, target] = rate
        elif colon and len(interfaces[node]) == 1 and node in neighbours:
            other = neighbours[node]
            used.setdefault((node, other) if metric == "tx" else (other, node), rate)
    return used


def _only_neighbours(topology: Topology) -> dict[str, str]:
    """Of each node with one neighbour alone which that is. O(links)."""
    links, count = link_columns(topology), len(topology.nodes)
    ends = np.concatenate([links.source * count + links.target, links.target * count + links.source])
    node, other = np.divmod(np.unique(ends), max(count, 1))
    alone = np.flatnonzero(np.bincount(node, minlength=count)[node] == 1)
    names = topology.nodes
    return {names[node[at]].id: names[other[at]].id for at in alone.tolist()}


def _estimated(link: Link, shown: LinkRate | None, pairs: Sequence[tuple[Ends, Figure]]) -> Link:
    if shown is None:
        return link
    figure = pairs[shown.pair][1]
    if not shown.idle:
        return _figured(link, figure)
    left = max(figure.value, link.capacity - (link.used or 0.0))
    return replace(_figured(link, replace(figure, value=left)), high=None if figure.high is None else link.capacity)


def _figured(link: Link, figure: Figure) -> Link:
    low, high = figure.low, figure.high
    return replace(
        link,
        bandwidth=min(figure.value, link.capacity),
        low=None if low is None else min(max(low, 0.0), link.capacity),
        high=None if high is None else min(high, link.capacity),
        measured_at=figure.at,
        origin=figure.origin,
    )


def _with_cpu(node: Node, figure: Figure | None) -> Node:
    return node if figure is None else replace(node, cpu=min(1.0, max(0.0, figure.value)))


def _duration(seconds: float) -> str:
    for unit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:g} {name}"
    return f"{seconds:g} s"
