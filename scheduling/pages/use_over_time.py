"""What a run took of its nodes over time: processors, memory, network; summed over the nodes, and node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from django.conf import settings
from django.utils import timezone

from gridportal.web.templatetags.units import rate, size
from monitoring.clusters.models import Cluster
from monitoring.history.charts import history as charts
from monitoring.history.core.samples import Floats, History
from monitoring.history.selectors import series as history_series
from monitoring.status.views.panels import Panel
from scheduling.placing.selectors import rooms
from scheduling.runs.models import Run

#: Of so many nodes of a run at most the series are read, the first of them.
MOST_NODES = 32
#: A reading stands for so many seconds at most, where no other follows.
_HOLDS = 60.0
_METRICS = ("load", "memory", "tx", "rx")


@dataclass(frozen=True, slots=True)
class NodeUse:
    """What a run took of one node: `load` in processes, the mean; `memory` in bytes, the most; rates in bit/s, means.
    None where nobody counted it."""

    node: str
    load: float | None
    memory: float | None
    tx: float | None
    rx: float | None


@dataclass(frozen=True, slots=True)
class UseOverTime:
    """`nodes`: row by row, without those of which nothing was read; `left_out`: how many nodes were not asked of;
    `every`: seconds between two readings."""

    panels: Sequence[Panel]
    nodes: Sequence[NodeUse]
    left_out: int
    every: float


def use_over_time(run: Run) -> UseOverTime:
    """What agents counted of a run from its start to its end. Eight queries for each node, of MOST_NODES at most."""
    cluster, every = Cluster.objects.filter(name=run.job.cluster).first(), settings.PORTAL.collect_every
    if cluster is None or run.started_at is None or not run.run_dir:
        return UseOverTime((), (), 0, every)
    names = list(dict.fromkeys(run.placement.nodes))
    ends = (run.started_at, (run.ended_at or timezone.now()) + timedelta(seconds=1))
    processors = rooms.processors(cluster.name)
    read = {node: _read(cluster.name, node, run, ends, processors.get(node, 1)) for node in names[:MOST_NODES]}
    rows = [_row(node, found) for node, found in read.items() if any(len(each) for each in found.values())]
    return UseOverTime(_panels(list(read.values()), ends), rows, max(0, len(names) - MOST_NODES), every)


def total(histories: Sequence[History]) -> History:
    """The sum, at each moment at which one of them has a reading; a reading stands until the next, a minute at most.

    Raises ValueError without any history.
    """
    if not histories:
        raise ValueError("nothing to add up")
    moments = np.unique(np.concatenate([each.at for each in histories]))
    sums = np.zeros(len(moments))
    for each in histories:
        sums += _held(each, moments)
    ages = [each.age for each in histories if each.age is not None]
    return History(moments, sums, sums, sums, histories[0].resolution, min(ages, default=None))


def _held(history: History, moments: Floats) -> Floats:
    if not len(history):
        return np.zeros(len(moments))
    place = np.searchsorted(history.at, moments, side="right") - 1
    here = np.maximum(place, 0)
    stands = (place >= 0) & (moments - history.at[here] <= max(_HOLDS, _usual_step(history)))
    return np.where(stands, history.value[here], 0.0)


def _usual_step(history: History) -> float:
    return 2.0 * float(np.median(np.diff(history.at))) if len(history) > 1 else 0.0


def _read(cluster: str, node: str, run: Run, ends: tuple[datetime, datetime], processors: int) -> Mapping[str, History]:
    """The series of one node, the load in processes."""
    subject = f"{node}@{Path(run.run_dir).name}"
    found = {metric: history_series.history(cluster, subject, metric, *ends) for metric in _METRICS}
    load = found["load"]
    values = (load.value * processors, load.low * processors, load.high * processors)
    begun = ends[0].timestamp()
    rates = {metric: since_before(found[metric], begun) for metric in ("tx", "rx")}
    return found | rates | {"load": History(load.at, *values, load.resolution, load.age)}


def since_before(history: History, begun: float) -> History:
    """The same values, each from the moment of the reading before it on, the first from `begun`: a rate is the mean
    since then. A last point ends the last of them."""
    if not len(history):
        return history
    at = np.concatenate([[min(begun, history.at[0])], history.at])
    value, low, high = (np.append(column, column[-1]) for column in (history.value, history.low, history.high))
    return History(at, value, low, high, history.resolution, history.age)


def mean(history: History) -> float:
    """Over the time that its values stand for, each until the next; of one moment its value."""
    lengths = np.diff(history.at)
    return float(np.average(history.value[:-1], weights=lengths)) if lengths.sum() > 0 else float(history.value[-1])


def _row(node: str, found: Mapping[str, History]) -> NodeUse:
    means = {metric: mean(found[metric]) if len(found[metric]) else None for metric in _METRICS}
    memory = found["memory"]
    return NodeUse(node, means["load"], float(memory.high.max()) if len(memory) else None, means["tx"], means["rx"])


def _panels(found: Sequence[Mapping[str, History]], ends: tuple[datetime, datetime]) -> list[Panel]:
    """A chart for each kind of which something was read."""
    wanted = [
        ("use-load", "Busy processors", [("in use", "load")], "processors", _processors, 1.0),
        ("use-memory", "Memory", [("in use", "memory")], "GB", size, 1e9),
        ("use-network", "Network", [("sent", "tx"), ("received", "rx")], "Mbit/s", rate, 1e6),
    ]
    made = []
    for key, title, series, unit, shown, scale in wanted:
        lines = [charts.Line(name, total([each[metric] for each in found])) for name, metric in series if found]
        lines = [line for line in lines if len(line.history)]
        if lines:
            figure = charts.figure(lines, unit, scale=scale, span=ends)
            finding = _finding(lines[0].history, shown)
            made.append(Panel(key, title, finding, figure, [], [], len(lines[0].history), []))
    return made


def _finding(history: History, shown: charts.Shown) -> str:
    """Mean and most, in one sentence."""
    return f"{shown(mean(history))} on average, {shown(float(history.value.max()))} at most."


def _processors(value: float) -> str:
    return f"{value:.2f}"
