"""What runs, interfaces and everybody else take of one node, from the newest samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime

from monitoring.history.core.samples import Live, Series
from monitoring.status.selectors.picture import too_old

#: What a run has to take for it to be told of when the portal thinks that it is over: processes, bit/s.
_LEAST_LOAD, _LEAST_RATE = 0.005, 1e4


@dataclass(frozen=True, slots=True)
class NodeUsers:
    """Who uses a node: `owners`, which job a run is of, by the run's name; `over`, names of runs that ended lately, of
    which an agent may still tell; `holder`, the job that has the node now."""

    owners: Mapping[str, int] = field(default_factory=dict)
    over: Set[str] = frozenset()
    holder: int | None = None


@dataclass(frozen=True, slots=True)
class RunOnNode:
    """What a run takes of a node: `load` in processes, `tx` and `rx` in bit/s, None where nobody counts it.

    `job`: the number of its job, None where it is not known, as for runs of others; `at`: None where nothing of it is
    measured yet.
    """

    name: str
    job: int | None
    at: datetime | None
    load: float | None
    tx: float | None
    rx: float | None

    @property
    def is_shown(self) -> bool:
        """Whether it is of a job that runs, or still takes something: an agent tells of it until its group is gone."""
        return bool(self.job) or (self.load or 0.0) >= _LEAST_LOAD or (self.tx or 0.0) + (self.rx or 0.0) >= _LEAST_RATE


@dataclass(frozen=True, slots=True)
class Interface:
    """Counted traffic of one interface, bit/s; None where one direction is not counted."""

    name: str
    at: datetime
    stale: bool
    source: str
    tx: float | None
    rx: float | None


@dataclass(frozen=True, slots=True)
class Others:
    """What a node carries beside the runs: load in processes, traffic in bit/s; None: not known."""

    load: float | None
    tx: float | None
    rx: float | None


def runs_on(node: str, live: Mapping[Series, Live], users: NodeUsers, oldest: float) -> list[RunOnNode]:
    """What each run takes of `node`, by name; of runs that are over nothing. `oldest`: Unix seconds of the first
    sample that counts, since runs that are no longer told of are over. Who holds the node is there in any case."""
    shown = []
    for name, newest in _by_part(node, "@", live, oldest):
        first = next(iter(newest.values()))
        taken = {metric: _value(newest, metric) for metric in ("load", "tx", "rx")}
        if name not in users.over:
            shown.append(RunOnNode(name, users.owners.get(name), datetime.fromtimestamp(first.at, UTC), **taken))
    if users.holder is not None and users.holder not in {run.job for run in shown}:
        shown.append(RunOnNode("", users.holder, None, None, None, None))
    return [run for run in shown if run.is_shown]


def interfaces_of(node: str, live: Mapping[Series, Live]) -> list[Interface]:
    """Counted traffic of each interface of `node`, by name."""
    shown = []
    for name, newest in _by_part(node, ":", live):
        counted = [newest[metric] for metric in ("tx", "rx") if metric in newest]
        if counted:
            at = datetime.fromtimestamp(counted[0].at, UTC)
            rates = (_value(newest, "tx"), _value(newest, "rx"))
            shown.append(Interface(name, at, too_old(at), counted[0].source, *rates))
    return shown


def others_on(
    node: str, live: Mapping[Series, Live], runs: Sequence[RunOnNode], interfaces: Sequence[Interface]
) -> Others:
    """What `node` carries beside `runs`, of its load and of the traffic of all its interfaces."""
    load = [live[node, "load"].value] if (node, "load") in live else []
    return Others(
        _beside(load, [run.load for run in runs]),
        _beside([each.tx for each in interfaces if each.tx is not None], [run.tx for run in runs]),
        _beside([each.rx for each in interfaces if each.rx is not None], [run.rx for run in runs]),
    )


def _beside(whole: Sequence[float], taken: Sequence[float | None]) -> float | None:
    return max(0.0, sum(whole) - sum(value or 0.0 for value in taken)) if whole else None


def _by_part(
    node: str, sign: str, live: Mapping[Series, Live], oldest: float = 0.0
) -> Iterator[tuple[str, dict[str, Live]]]:
    """The samples of what is named "node, sign, part", by part and metric."""
    parts: dict[str, dict[str, Live]] = {}
    for (subject, metric), sample in live.items():
        name, found, part = subject.partition(sign)
        if name == node and found and sample.at >= oldest:
            parts.setdefault(part, {})[metric] = sample
    yield from sorted(parts.items())


def _value(newest: Mapping[str, Live], metric: str) -> float | None:
    return newest[metric].value if metric in newest else None
