"""What the values of a series are called and counted in, where people read or write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Figures that are made of others: the part of a link's peak in use, how long an agent has been silent, how long the
#: job has waited that waits for longest.
LINK_USE, SILENCE, WAITING = "link_use", "silence", "waiting"
_HOUR, _MINUTE = 3600, 60


@dataclass(frozen=True, slots=True)
class Metric:
    """`label` stands before the name of what it is of. A value is `scale` of the `unit` that people write; it is
    between `least` and `most`, where these are known."""

    label: str
    unit: str
    scale: float = 1.0
    least: float | None = 0.0
    most: float | None = None


METRICS: Mapping[str, Metric] = {
    LINK_USE: Metric("Use of the link", "%", 0.01, most=1.0),
    SILENCE: Metric("Silence of the agent of", "s"),
    WAITING: Metric("Longest wait of", "s"),
    "cpu": Metric("Free processor of", "%", 0.01, most=1.0),
    "load": Metric("Load of", "processes"),
    "load_runs": Metric("Load of the portal's jobs on", "processes"),
    "memory_free": Metric("Free memory of", "GB", 1e9),
    "disk_free": Metric("Free disk of", "GB", 1e9),
    "bandwidth": Metric("Bandwidth of", "Mbit/s", 1e6),
    "latency": Metric("Latency of", "ms", 1e-3),
    "tx": Metric("Traffic sent by", "Mbit/s", 1e6),
    "rx": Metric("Traffic received by", "Mbit/s", 1e6),
    "ib_tx": Metric("InfiniBand traffic sent by", "Mbit/s", 1e6),
    "ib_rx": Metric("InfiniBand traffic received by", "Mbit/s", 1e6),
    "gpu": Metric("Use of the GPUs of", "%", 0.01, most=1.0),
}

#: Those that are offered only where something measures them.
_ALSO: Mapping[str, Metric] = {
    "agent_up": Metric("Agent answers (1) or not (0) on", "", most=1.0),
    "clock_offset": Metric("Clock difference to the portal of", "ms", 1e-3, least=None),
    "memory_total": Metric("Size of the memory of", "GB", 1e9),
    "disk_total": Metric("Size of the disk of", "GB", 1e9),
}


def metric_of(name: str) -> Metric:
    """How a metric is told; one that nobody described by its own name, in its own unit."""
    return METRICS.get(name) or _ALSO.get(name) or Metric(f"{name.replace('_', ' ').capitalize()} of", "", least=None)


def value_text(name: str, value: float) -> str:
    """A value of a metric as people read it.

    >>> value_text("link_use", 0.934), value_text("waiting", 3900), value_text("bandwidth", 8e7)
    ('93.4 %', '1 h 5 min', '80 Mbit/s')
    >>> value_text("clock_offset", -0.0125), value_text("disk_total", 2e12), value_text("agent_up", 0.0)
    ('-12.5 ms', '2000 GB', '0')
    """
    metric = metric_of(name)
    if metric.unit == "s":
        return time_text(value)
    return f"{value / metric.scale:.4g} {metric.unit}".strip()


def time_text(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> time_text(42), time_text(600), time_text(3900)
    ('42 s', '10 min', '1 h 5 min')
    """
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    hours, minutes, rest = whole // _HOUR, whole % _HOUR // _MINUTE, whole % _MINUTE
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)
