"""What counters of bytes say of links between probes: available is the peak less what is used, `bw = maxbw - used`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gridportal.network.topology import Topology
from monitoring.history.core.samples import Sample, Series
from monitoring.telemetry.core.figures import Ends, Figure, of_interfaces

METRICS = ("tx", "rx")
#: Of a node: its interfaces by name, and which neighbour is behind each.
Interfaces = Mapping[str, Mapping[str, str]]


def between_probes(
    topology: Topology, samples: Iterable[Sample], interfaces: Interfaces | None = None
) -> dict[Ends, Figure]:
    """Available bit/s of the links whose counters are among the samples, by (source, target) as in the topology.

    Of several samples of a series the newest counts. A link that serves both directions has what its fuller one
    leaves. `interfaces` says which link an interface is; without it only the one interface of a node that has one link
    is known. O(links + samples).

    >>> from gridportal.network.topology import parse
    >>> star = parse({"nodes": [{"id": "a"}, {"id": "s", "kind": "network"}], "links": [
    ...     {"source": "a", "target": "s", "capacity": 100}]})
    >>> between_probes(star, [Sample("a:eth0", "tx", 5.0, 30.0), Sample("a:eth0", "rx", 5.0, 60.0)])[("a", "s")].value
    40.0
    """
    newest = _newest(samples, interfaces or {})
    rates = of_interfaces(topology, {series: sample.value for series, sample in newest.items()})
    times = of_interfaces(topology, {series: sample.at for series, sample in newest.items()})
    found = {}
    for link in topology.links:
        ends, back = (link.source, link.target), (link.target, link.source)
        ways = [way for way in ((ends,) if topology.directed else (ends, back)) if way in rates]
        if ways:
            left = max(0.0, link.capacity - max(rates[way] for way in ways))
            at = max(times[way] for way in ways)
            found[ends] = Figure(min(left, link.capacity), at=at, origin="counter")
    return found


def _newest(samples: Iterable[Sample], interfaces: Interfaces) -> dict[Series, Sample]:
    """The last sample of each counter, under the name of the link where it is known."""
    found: dict[Series, Sample] = {}
    for sample in samples:
        if sample.metric in METRICS:
            series = _link_of(sample, interfaces)
            if series not in found or found[series].at <= sample.at:
                found[series] = sample
    return found


def _link_of(sample: Sample, interfaces: Interfaces) -> Series:
    node, _, interface = sample.subject.partition(":")
    other = interfaces.get(node, {}).get(interface)
    if other is None:
        return sample.subject, sample.metric
    return (f"{node}>{other}" if sample.metric == "tx" else f"{other}>{node}"), "tx"
