"""A cluster with all its figures, each with its time and origin, as it is now or was at a moment: for pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.utils import timezone

from gridportal.network import topology as core
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.clusters.selectors import links, nodes, structure
from monitoring.history.core.samples import Forecast, Live, Sample, Series
from monitoring.history.selectors.past import values_at
from monitoring.status.selectors.live_forecasts import live_and_forecast
from monitoring.telemetry.core.counters import between_probes
from monitoring.telemetry.core.figures import Ends, Figure, of_interfaces, with_figures
from monitoring.telemetry.selectors import MISSED

_METRICS = frozenset(("bandwidth", "latency", "cpu", "load", "load_runs", "tx", "rx"))


def bounded(value: float | None, error: float | None, most: float) -> tuple[float | None, float | None]:
    """Between what a forecast lies with its error, within what can be: 0 to `most`. None where there is none.

    >>> bounded(200.0, 116.7, 200.0), bounded(5.0, 9.0, 200.0), bounded(5.0, None, 200.0)
    ((83.3, 200.0), (0.0, 14.0), (None, None))
    """
    if value is None or error is None or math.isnan(error):
        return None, None
    return max(0.0, min(most, value - error)), max(0.0, min(most, value + error))


@dataclass(frozen=True, slots=True)
class LinkFigures:
    """A link, or one direction of it: rates in bit/s, latency in seconds, None where nothing is known.

    `used`: what counters say is sent over it; `forecast` and `error`: what the next figure will be; `low` and `high`:
    between which the figure lies, where there is a forecast. `stale`: it was measured too long ago to go by.
    """

    source: str
    target: str
    capacity: float
    bandwidth: float | None = None
    latency: float | None = None
    used: float | None = None
    forecast: float | None = None
    error: float | None = None
    measured_at: datetime | None = None
    origin: str = ""
    stale: bool = False

    @property
    def share(self) -> float | None:
        """bwfactor: available over peak."""
        return None if self.bandwidth is None else min(1.0, self.bandwidth / self.capacity)

    @property
    def in_use(self) -> float | None:
        """Utilization: the part of the peak that is not available."""
        return None if self.share is None else 1.0 - self.share

    @property
    def low(self) -> float | None:
        """The lower end of the forecast."""
        return bounded(self.forecast, self.error, self.capacity)[0]

    @property
    def high(self) -> float | None:
        """The upper end of the forecast."""
        return bounded(self.forecast, self.error, self.capacity)[1]


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """A node: `cpu` available 0..1, `load` runnable processes, of which `load_runs` are the portal's own."""

    name: str
    kind: str
    speed: float
    labels: Mapping[str, str]
    closed: str = ""
    busy: bool = False
    free_at: datetime | None = None
    cpu: float | None = None
    load: float | None = None
    load_runs: float | None = None
    forecast: float | None = None
    error: float | None = None
    measured_at: datetime | None = None
    stale: bool = False

    @property
    def low(self) -> float | None:
        """The lower end of the forecast."""
        return bounded(self.forecast, self.error, 1.0)[0]

    @property
    def high(self) -> float | None:
        """The upper end of the forecast."""
        return bounded(self.forecast, self.error, 1.0)[1]

    def get_kind_display(self) -> str:
        """As rows of nodes say it."""
        return dict(Node.KINDS).get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class Picture:
    """All nodes and links in the order of the topology. `at`: the moment it is about; None: now."""

    cluster: Cluster
    at: datetime | None
    nodes: list[NodeFigures]
    links: list[LinkFigures]


def picture(cluster: Cluster, at: datetime | None = None) -> Picture:
    """The cluster now, or as it was at `at`: then its structure is today's and there are no forecasts. Three queries
    for now, six for a moment of the past."""
    rows, ends = list(nodes(cluster.name)), list(links(cluster.name))
    if at is None:
        live, forecasts = live_and_forecast(cluster.name)
        return Picture(
            cluster, None, [_node_now(row, live, forecasts) for row in rows], _now(cluster, rows, ends, live, forecasts)
        )
    then = values_at(cluster.name, at, _METRICS)
    return Picture(cluster, at, [_node_then(row, then) for row in rows], _then(cluster, rows, ends, then))


def too_old(at: datetime | None, now: datetime | None = None) -> bool:
    """Whether a figure of that time is too old to go by: a busy network is measured five times as seldom."""
    limit = MISSED * max(5 * settings.PORTAL.measure_every, settings.PORTAL.collect_every)
    return at is not None and ((now or timezone.now()) - at).total_seconds() > limit


def _now(
    cluster: Cluster,
    rows: list[Node],
    ends: list[Link],
    live: Mapping[Series, Live],
    forecasts: Mapping[Series, Forecast],
) -> list[LinkFigures]:
    bare = _bare(cluster, rows, ends)
    used = of_interfaces(bare, _rates(live))
    next_ones = {series: _expected(found) for series, found in forecasts.items() if series[1] == "bandwidth"}
    figured = _figured(bare, next_ones)
    return [
        LinkFigures(
            row.source.name,
            row.target.name,
            row.capacity,
            row.bandwidth,
            row.latency,
            _used(used, cluster, row),
            link.bandwidth if link.origin else None,
            link.bandwidth - link.low if link.origin and link.low is not None else None,
            row.measured_at,
            (row.origin or "probe") if row.measured_at else "",
            too_old(row.measured_at),
        )
        for row, link in zip(ends, figured.links, strict=True)
    ]


def _expected(found: Forecast) -> Figure:
    """The error is no number before the second sample."""
    if math.isnan(found.error):
        return Figure(found.value, at=found.at, origin="forecast")
    return Figure(found.value, found.value - found.error, found.value + found.error, found.at, "forecast")


def _then(cluster: Cluster, rows: list[Node], ends: list[Link], live: Mapping[Series, Live]) -> list[LinkFigures]:
    bare = _bare(cluster, rows, ends)
    used = of_interfaces(bare, _rates(live))
    probes = {
        series: Figure(found.value, at=found.at, origin="probe")
        for series, found in live.items()
        if series[1] == "bandwidth"
    }
    figured = _figured(bare, probes)
    counted = between_probes(bare, (Sample(*series, found.at, found.value) for series, found in live.items()))
    return [
        _link_then(row, link, counted.get((link.source, link.target)), _used(used, cluster, row), live)
        for row, link in zip(ends, figured.links, strict=True)
    ]


def _link_then(
    row: Link, link: core.Link, counted: Figure | None, used: float | None, live: Mapping[Series, Live]
) -> LinkFigures:
    """A probe tells more than counters, which tell where no probe crossed the link."""
    found = LinkFigures(link.source, link.target, row.capacity, used=used)
    latency = live.get((f"{link.source}>{link.target}", "latency"))
    if latency:
        found = replace(found, latency=latency.value)
    if link.measured_at is not None:
        return replace(found, bandwidth=link.bandwidth, measured_at=_moment(link.measured_at), origin="probe")
    if counted is not None:
        return replace(found, bandwidth=counted.value, measured_at=_moment(counted.at), origin="counter")
    return found


def _bare(cluster: Cluster, rows: Iterable[Node], ends: Iterable[Link]) -> core.Topology:
    """The structure with peaks alone, so that a figure's origin says whether there is one."""
    return structure(cluster, rows, ((row.source.name, row.target.name, row.capacity) for row in ends))


def _figured(bare: core.Topology, figures: Mapping[Series, Figure]) -> core.Topology:
    """With figures found end to end between compute nodes, and those of links themselves."""
    kinds = {node.id: node.kind for node in bare.nodes}
    between = {_ends(subject): one for (subject, _), one in figures.items() if ">" in subject}
    of_nodes = {ends: one for ends, one in between.items() if ends[0] in kinds and ends[1] in kinds}
    end_to_end = {ends: one for ends, one in of_nodes.items() if {kinds[end] for end in ends} == {"compute"}}
    return with_figures(bare, end_to_end, direct={ends: of_nodes[ends] for ends in of_nodes.keys() - end_to_end.keys()})


def _used(used: Mapping[Ends, float], cluster: Cluster, row: Link) -> float | None:
    ends = (row.source.name, row.target.name)
    ways = (ends,) if cluster.directed else (ends, ends[::-1])
    return max((used[way] for way in ways if way in used), default=None)


def _rates(live: Mapping[Series, Live]) -> dict[Series, float]:
    return {series: one.value for series, one in live.items() if series[1] in ("tx", "rx")}


def _node_now(row: Node, live: Mapping[Series, Live], forecasts: Mapping[Series, Forecast]) -> NodeFigures:
    forecast = forecasts.get((row.name, "cpu")) if row.kind == "compute" else None
    runs = live.get((row.name, "load_runs"))
    return replace(
        _plain(row),
        closed=row.closed,
        busy=row.busy,
        free_at=row.free_at,
        cpu=row.cpu,
        load=row.load,
        load_runs=runs.value if runs else None,
        forecast=min(1.0, max(0.0, forecast.value)) if forecast else None,
        error=forecast.error if forecast and not math.isnan(forecast.error) else None,
        measured_at=row.measured_at,
        stale=row.kind == "compute" and too_old(row.measured_at),
    )


def _node_then(row: Node, live: Mapping[Series, Live]) -> NodeFigures:
    cpu, load, runs = (live.get((row.name, metric)) for metric in ("cpu", "load", "load_runs"))
    return replace(
        _plain(row),
        cpu=cpu.value if cpu else None,
        load=load.value if load else None,
        load_runs=runs.value if runs else None,
        measured_at=_moment(cpu.at) if cpu else None,
    )


def _plain(row: Node) -> NodeFigures:
    return NodeFigures(row.name, row.kind, row.speed, row.labels)


def _ends(subject: str) -> Ends:
    source, _, target = subject.partition(">")
    return source, target


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)
