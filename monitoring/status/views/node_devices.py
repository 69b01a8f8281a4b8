"""What only some nodes have: ports of InfiniBand, GPUs, and other generic resources (GRES) that Slurm gives out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gridportal.web.templatetags.units import percent, rate
from monitoring.history.core.samples import Live, Series
from monitoring.status.views.panels import Wanted

_TOTAL, _USED = "gres_", "gres_used_"


def device_charts(node: str, live: Mapping[Series, Live]) -> Iterator[Wanted]:
    """A chart for each of them of which there are figures."""
    yield from _ports(node, live)
    if (node, "gpu") in live:
        yield Wanted("gpu", "Use of the GPUs", [("mean of all", node, "gpu")], "%", percent, 0.01)
    yield from _resources(node, live)


def _ports(node: str, live: Mapping[Series, Live]) -> Iterator[Wanted]:
    """What each InfiniBand port sends and receives."""
    ports = sorted(subject for subject, metric in live if metric == "ib_tx" and subject.startswith(f"{node}:"))
    for place, subject in enumerate(ports):
        ways = [("sent", subject, "ib_tx"), ("received", subject, "ib_rx")]
        series = [way for way in ways if way[1:] in live]
        port = subject.removeprefix(f"{node}:")
        yield Wanted(f"ib-{place}", f"Traffic of InfiniBand {port}", series, "Mbit/s", rate, 1e6)


def _resources(node: str, live: Mapping[Series, Live]) -> Iterator[Wanted]:
    """How many of each resource jobs use."""
    used = sorted(metric for subject, metric in live if subject == node and metric.startswith(_USED))
    for metric in used:
        name = metric.removeprefix(_USED)
        total = live.get((node, _TOTAL + name))
        peak = total.value if total else None
        yield Wanted(metric, f"{name} in use", [("in use", node, metric)], name, _count, 1.0, peak)


def _count(value: float) -> str:
    return f"{value:g}"
