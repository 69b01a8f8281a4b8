"""From what an agent reports to samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from monitoring.history.core.samples import SUBJECT_LENGTH, Sample

Report = Mapping[str, Any]
#: As many interfaces, and as many runs, as one node may tell of.
MOST_NAMED = 1024
_PLAIN = {"cpu": "cpu", "load": "load"}
_PAIRS = {"memory": ("memory_free", "memory_total"), "disk": ("disk_free", "disk_total")}


def samples_of(
    node: str, report: Report, before: Report | None, now: float, nodes: Mapping[str, str]
) -> Iterator[Sample]:
    """Everything that the report of `node` says, as of `now` (Unix seconds). ValueError, TypeError, LookupError,
    OverflowError when it cannot be read, or tells of more than a node has.

    cpu 0..1 and load, `load_runs` (that part of the load which is the portal's own runs'), memory and disk in bytes; tx
    and rx in bit/s of each interface ("n1:eth0"), towards each other node whose address `nodes` knows ("n1>n2": tx) and
    of each run ("n1@run", with its load and memory); ib_tx and ib_rx of each InfiniBand device ("n1:mlx5_0"). Rates are
    means since the report `before`; without one interfaces have those of the last second, the rest none.
    """
    for metric, key in _PLAIN.items():
        yield Sample(node, metric, now, _number(report[key]))
    for key, metrics in _PAIRS.items():
        for metric, value in zip(metrics, report.get(key) or (), strict=False):
            yield Sample(node, metric, now, _number(value))
    elapsed = _elapsed(report, before)
    yield from _interfaces(node, report, before or {}, elapsed, now)
    yield from _infiniband(node, report, before or {}, elapsed, now)
    yield from _runs(node, report, before or {}, elapsed, now)
    yield from _peers(node, report, before or {}, elapsed, now, nodes)


def _interfaces(node: str, report: Report, before: Report, elapsed: float, now: float) -> Iterator[Sample]:
    for name, numbers in _few(report["interfaces"]).items():
        rates = _rates(numbers, before.get("interfaces", {}).get(name), elapsed) or numbers[2:4]
        yield from _both_ways(f"{node}:{name}", rates, now)


def _infiniband(node: str, report: Report, before: Report, elapsed: float, now: float) -> Iterator[Sample]:
    old = before.get("infiniband") or {}
    for name, numbers in _few(report.get("infiniband") or {}).items():  # an agent of an older portal tells none
        rates = _rates(numbers, old.get(name), elapsed) or ()
        yield from _both_ways(f"{node}:{name}", rates, now, "ib_tx", "ib_rx")


def _runs(node: str, report: Report, before: Report, elapsed: float, now: float) -> Iterator[Sample]:
    own = 0.0
    for run, figures in _few(report["runs"]).items():
        load = _number(figures["load"])
        own += load
        subject = f"{node}@{run.rstrip('/').rpartition('/')[2]}"
        yield from _sample(subject, "load", now, load)
        if memory := _number(figures.get("memory", 0)):  # an agent of an older portal tells none
            yield from _sample(subject, "memory", now, memory)
        old = before.get("runs", {}).get(run, {"tx": 0, "rx": 0})
        rates = _rates((figures["tx"], figures["rx"]), (old["tx"], old["rx"]), elapsed)
        yield from _both_ways(subject, rates or (), now)
    yield Sample(node, "load_runs", now, own)


def _peers(
    node: str, report: Report, before: Report, elapsed: float, now: float, nodes: Mapping[str, str]
) -> Iterator[Sample]:
    if not elapsed:
        return
    for address, numbers in report["peers"].items():
        other = nodes.get(address)
        rates = _rates(numbers, before.get("peers", {}).get(address, (0, 0)), elapsed)
        if other and other != node and rates:
            yield from _sample(f"{node}>{other}", "tx", now, rates[0])


def _both_ways(
    subject: str, rates: tuple[float, ...] | list[float], now: float, sent: str = "tx", received: str = "rx"
) -> Iterator[Sample]:
    for metric, rate in zip((sent, received), rates, strict=False):
        yield from _sample(subject, metric, now, _number(rate))


def _sample(subject: str, metric: str, now: float, value: float) -> Iterator[Sample]:
    """What has too long a name is left out: it names a run, and cannot be told apart when it is cut."""
    if len(subject) <= SUBJECT_LENGTH and subject.isprintable():
        yield Sample(subject, metric, now, value)


def _few(named: Any) -> Any:
    """Interfaces or runs, of which no node has MOST_NAMED: each becomes series that are kept for a year."""
    if len(named) > MOST_NAMED:
        raise ValueError(f"{len(named)} names where {MOST_NAMED} are the most")
    return named


def _elapsed(report: Report, before: Report | None) -> float:
    """Seconds between two reports of one life of an agent; 0 when there are no two."""
    up = _number(report["up"])
    if before is None or before.get("pid") != report["pid"]:
        return 0.0
    return max(0.0, up - _number(before["up"]))


def _rates(new: Any, old: Any, elapsed: float) -> tuple[float, float] | None:
    """bit/s from two pairs of counters; None where one has begun anew."""
    if old is None or not elapsed or new[0] < old[0] or new[1] < old[1]:
        return None
    return (_number(new[0]) - old[0]) * 8 / elapsed, (_number(new[1]) - old[1]) * 8 / elapsed


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise ValueError(f"{value!r} is no figure")
    return number
