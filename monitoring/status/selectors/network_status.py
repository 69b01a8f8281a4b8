"""The network as a value, as it is now, was over a window, or is forecast: for the selection and for Remos queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from gridportal.network import topology as core
from gridportal.network.estimate import link_rates
from gridportal.network.link_table import LinkTable
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import KEPT_FROM, MOST_KEPT, cluster, last_measured, node_figures
from monitoring.history.core.directory import Figures, LiveValues
from monitoring.history.core.samples import Forecast, Live, Series
from monitoring.history.selectors import series as telemetry
from monitoring.status.selectors.live_forecasts import live_values, over_next
from monitoring.telemetry.core.figures import NOW, Ends, Figure, When, of_interfaces, with_figures

_stepped_of: dict[int, tuple[Sequence[core.Link], Sequence[core.Link]]] = {}
#: Links with what others send over them, by the figures that tell.
_used_of: dict[int, tuple[Sequence[core.Link], Figures, Sequence[core.Link]]] = {}


@dataclass(frozen=True)
class NetworkStatus:
    """The network as last measured. `age` in seconds; `topology.links[].bandwidth` is what is available, bit/s, with
    the time and origin of each figure. `when`: which moment it is about; `latencies`: seconds one way between pairs."""

    topology: core.Topology
    measured_at: datetime | None
    age: float | None
    warning: str
    cluster: Cluster
    when: When = NOW
    latencies: Mapping[Ends, float] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether any figure rests on a measurement; without one peak bandwidths stand in."""
        return self.measured_at is not None


def network_status(
    name: str = "grid", *, when: When = NOW, in_steps: bool = True, with_errors: bool = True
) -> NetworkStatus | None:
    """The network as a core Topology; None while the cluster was never reached. Four queries for now and for a
    forecast, three where links of a large cluster are as they were; over a window, and for a forecast of more than the
    next sample, three more for each pair that tells of a link.

    What was measured last is as monitoring.clusters.selectors.last_measured has it. Over a window links
    and nodes have the mean, with the lowest and highest as `low` and `high`; forecasts have their error around them.
    What has no history or forecast keeps the last value. Without `in_steps` what was measured last has the error of
    its forecasts around it too, unless not `with_errors`.
    `in_steps`, for the selection: bandwidths in steps of 1 % of the link's peak and loads in steps of 0.01, which is
    as much as one short transfer can tell: node sets that differ by less are equal. Rows and series keep what was
    measured.
    """
    found = cluster(name)
    if found is None:
        return None
    compute_and_network = node_figures(name)
    if not compute_and_network:
        return None
    live, forecasts = live_values(name)
    short = ""
    topology = _with_use(last_measured(found, compute_and_network), live)
    if when.kind == "window":
        topology = _figured(topology, _windows(name, topology, live, when.seconds))
    elif when.kind == "forecast":
        expected = forecasts()
        if when.seconds:
            later, short = over_next(name, list(_wanted(_telling(topology, live))), when.seconds)
            expected |= later
        topology = _figured(topology, _forecasts(live, expected))
    elif with_errors and not in_steps:
        topology = _with_errors(topology, _forecasts(live, forecasts()))
    age = (timezone.now() - found.measured_at).total_seconds() if found.measured_at else None
    return NetworkStatus(
        _stepped(topology) if in_steps else topology,
        found.measured_at,
        age,
        " ".join(filter(None, [found.warning, short])),
        found,
        when,
        live.of_pairs("latency"),
    )


def _with_use(topology: core.Topology, live: LiveValues) -> core.Topology:
    """With what others send over the links, where counters tell; once for the same links and figures."""
    kept = _used_of.get(id(topology.links))
    if kept is not None and kept[0] is topology.links and kept[1] is live.figures:
        return replace(topology, links=kept[2])
    found = _with_counters(topology, live)
    if len(topology.links) >= KEPT_FROM:
        _used_of[id(topology.links)] = topology.links, live.figures, found.links
        for oldest in list(_used_of)[:-MOST_KEPT]:
            _used_of.pop(oldest, None)
    return found


def _with_counters(topology: core.Topology, live: LiveValues) -> core.Topology:
    rates = {series: one.value for series, one in live.of_metrics("tx", "rx")}
    used = of_interfaces(topology, rates) if rates else {}
    return with_figures(topology, {}, used=used) if used else topology


def _figured(topology: core.Topology, figures: Mapping[Series, Figure]) -> core.Topology:
    """With the figures of the moment that is asked about."""
    compute = {node.id for node in topology.nodes if node.kind == "compute"}
    between = {_ends(subject): one for (subject, metric), one in figures.items() if metric == "bandwidth"}
    end_to_end = {ends: one for ends, one in between.items() if compute.issuperset(ends)}
    cpus = {subject: one for (subject, metric), one in figures.items() if metric == "cpu"}
    own = {ends: one for ends, one in between.items() if ends not in end_to_end}
    return with_figures(topology, end_to_end, direct=own, cpus=cpus)


def _windows(name: str, topology: core.Topology, live: Mapping[Series, Live], seconds: float) -> dict[Series, Figure]:
    """Means and extremes; of the pairs only those that tell of some link now, so that there are no more than links."""
    until = timezone.now()
    since = until - timedelta(seconds=seconds)

    def over(subject: str, metric: str) -> Figure | None:
        found = telemetry.history(name, subject, metric, since, until)
        if not len(found):
            return None
        low, high = float(found.low.min()), float(found.high.max())
        return Figure(float(np.mean(found.value)), low, high, float(found.at[-1]), "window")

    return _each(_telling(topology, live), over)


def _telling(topology: core.Topology, live: Mapping[Series, Live]) -> dict[Series, Live]:
    """Without the pairs of compute nodes that are not the fastest over any link."""
    compute = {node.id for node in topology.nodes if node.kind == "compute"}
    between = [series for series in live if series[1] == "bandwidth" and compute.issuperset(_ends(series[0]))]
    shown = link_rates(topology, [(_ends(series[0]), live[series].value) for series in between])
    slower = set(between) - {between[one.pair] for one in shown.values()}
    return {series: one for series, one in live.items() if series not in slower}


def _forecasts(live: Mapping[Series, Live], forecasts: Mapping[Series, Forecast]) -> dict[Series, Figure]:
    def next_one(subject: str, metric: str) -> Figure | None:
        found = forecasts.get((subject, metric))
        if found is None:
            return None
        return Figure(found.value, found.value - found.error, found.value + found.error, found.at, "forecast")

    return _each(live, next_one)


def _each(live: Mapping[Series, Live], figure: Callable[[str, str], Figure | None]) -> dict[Series, Figure]:
    found = ((series, figure(*series)) for series in _wanted(live))
    return {series: one for series, one in found if one is not None}


def _wanted(live: Mapping[Series, Live]) -> Iterator[Series]:
    return (series for series in live if series[1] == "cpu" or (series[1] == "bandwidth" and ">" in series[0]))


def _with_errors(topology: core.Topology, figures: Mapping[Series, Figure]) -> core.Topology:
    """What was measured last, and around it the error that its forecasts have."""
    between = {_ends(subject): one for (subject, metric), one in figures.items() if metric == "bandwidth"}
    if not between:
        return topology
    forecast = with_figures(topology, between)
    return replace(topology, links=tuple(map(_around, topology.links, forecast.links)))


def _around(link: core.Link, forecast: core.Link) -> core.Link:
    if forecast.origin != "forecast" or forecast.low is None:
        return link
    error = forecast.bandwidth - forecast.low
    return replace(link, low=max(0.0, link.bandwidth - error), high=min(link.capacity, link.bandwidth + error))


def _ends(subject: str) -> Ends:
    source, _, target = subject.partition(">")
    return source, target


def _stepped(topology: core.Topology) -> core.Topology:
    nodes = tuple(replace(node, cpu=round(node.cpu, 2)) for node in topology.nodes)
    return replace(topology, nodes=nodes, links=_stepped_links(topology.links))


def _stepped_links(links: Sequence[core.Link]) -> Sequence[core.Link]:
    """Once for the same links: half a million of measured pairs stay the same until they are measured again."""
    kept = _stepped_of.get(id(links))
    if kept is not None and kept[0] is links:
        return kept[1]
    found = _in_whole_steps(links)
    if len(links) >= KEPT_FROM:
        _stepped_of[id(links)] = links, found
        for oldest in list(_stepped_of)[:-MOST_KEPT]:
            _stepped_of.pop(oldest, None)
    return found


def _in_whole_steps(links: Sequence[core.Link]) -> Sequence[core.Link]:
    if not isinstance(links, LinkTable):
        return tuple(replace(link, bandwidth=_in_steps(link.bandwidth, link.capacity)) for link in links)
    steps = np.maximum(np.rint(100 * links.bandwidth / links.capacity), links.bandwidth > 0)
    return replace(links, bandwidth=steps * links.capacity / 100)


def _in_steps(bandwidth: float, peak: float) -> float:
    """The nearest whole percentage of the peak; a link that carries anything at all keeps one."""
    return max(round(100 * bandwidth / peak), 1 if bandwidth > 0 else 0) * peak / 100
