"""Ads of compute nodes: what the portal measures of each, what its cluster says of it, and what administrators add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import latencies
from gridportal.network.topology import Topology
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Expression,
    ListOf,
    Literal,
    Record,
)
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.topology_ads import node_records

_MIB = 2**20
_REQUIREMENTS = "requirements"
#: An ad of administrators under this name is about every node.
EVERY_NODE = ""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is known of a node beside the network.

    cpus, memory (bytes): as its cluster says, None where it does not. closed: it takes no jobs; jobs: how many of the
    portal's are on it; busy: others leave no room on it.
    """

    cpus: int | None = None
    memory: int | None = None
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    gres: str = ""
    closed: bool = False
    busy: bool = False
    jobs: int = 0

    @property
    def state(self) -> str:
        """closed, busy or idle."""
        return "closed" if self.closed else "busy" if self.busy or self.jobs else "idle"


@dataclass(frozen=True, slots=True)
class JobRoom:
    """What a node is to one job. slots: for how many of its ranks it has room; is_allowed: it is what the job's options
    for the cluster ask for, and not excluded."""

    slots: int
    is_allowed: bool


@dataclass(frozen=True)
class PoolSource:
    """What a pool is made of. facts: by node; policies: ads of administrators by node, EVERY_NODE for all; now: local
    time, which the ads have as ClockDay (0 is Sunday) and ClockMin (minutes since midnight), as HTCondor's have. room:
    by node, where it is about one job, in the ads as RankSlots and Allowed."""

    cluster: str
    network: Topology
    facts: Mapping[str, NodeFacts] = field(default_factory=dict)
    policies: Mapping[str, Record] = field(default_factory=dict)
    now: datetime | None = None
    room: Mapping[str, JobRoom] = field(default_factory=dict)


def pool_ads(source: PoolSource) -> str:
    """An ad for each compute node, one a line: those of `topology_ads`, with `cluster`, `state`, `jobs`, `cpus`,
    `memory`, `partitions`, `features`, `gres` and the clock, and what administrators add.

    A node's own label wins over what its cluster says: emulated nodes all report the machine's memory. The names of
    Set matching 2002, 3.2, are there too: MemorySize (MB), RBandwidth, LBandwidth (bit/s), RLatency, LLatency (s).
    """
    write = AdWriter().ad
    return "\n".join(write(record) for record in pool_records(source))


def pool_records(source: PoolSource) -> list[Record]:
    """The same as values."""
    latency = _least_latency(source.network)
    made = []
    for name, record in node_records(source.network).items():
        attributes = dict(record.attributes)
        _add(attributes, _stated(source, name), latency.get(name, 0.0))
        ad = Record(attributes)
        for key in (EVERY_NODE, name):
            if key in source.policies:
                ad = with_policy(ad, source.policies[key])
        made.append(_with_room(ad, source.room[name]) if name in source.room else ad)
    return made


def with_policy(ad: Record, policy: Record) -> Record:
    """An ad with what an administrator's ad says: its attributes win, and requirements of both have to hold.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> node = read_ad("[ cpus = 4; requirements = other.owner == \\"ada\\" ]").ad
    >>> print(AdWriter().ad(with_policy(node, read_ad("[ cpus = 2; requirements = ClockMin < 480 ]").ad)))
    [cpus=2;requirements=TARGET.owner == "ada" && ClockMin < 480]
    """
    first, second = ad.get(_REQUIREMENTS), policy.get(_REQUIREMENTS)
    attributes = {**ad.attributes, **policy.attributes}
    if first is not None and second is not None:
        attributes[_REQUIREMENTS] = Attribute(_REQUIREMENTS, Binary("&&", first, second))
    return Record(attributes)


def _with_room(ad: Record, room: JobRoom) -> Record:
    values = {"RankSlots": Literal(room.slots), "Allowed": Literal(room.is_allowed)}
    return Record({**ad.attributes, **{key.lower(): Attribute(key, value) for key, value in values.items()}})


def _stated(source: PoolSource, name: str) -> dict[str, Expression]:
    """What is known of a node beside the network, by the names of attributes."""
    facts = source.facts.get(name, NodeFacts())
    values: dict[str, Expression] = {
        "cluster": Literal(source.cluster),
        "state": Literal(facts.state),
        "jobs": Literal(facts.jobs),
        "partitions": _texts(facts.partitions),
        "features": _texts(facts.features),
        "gres": Literal(facts.gres),
    }
    if facts.closed:
        values[_REQUIREMENTS] = Literal(False)
    if source.now is not None:
        values["ClockDay"] = Literal(source.now.isoweekday() % 7)
        values["ClockMin"] = Literal(source.now.hour * 60 + source.now.minute)
    if facts.cpus:
        values["cpus"] = Literal(facts.cpus)
    if facts.memory:
        values["memory"] = Literal(facts.memory)
    return values


def _add(attributes: dict[str, Attribute], stated: Mapping[str, Expression], latency: float) -> None:
    """Those that the node's labels do not say otherwise, and the paper's own names for them."""
    for name, expression in stated.items():
        attributes.setdefault(name.lower(), Attribute(name, expression))
    memory = attributes.get("memory")
    rate = attributes["bandwidth"].expression
    others: dict[str, Expression] = dict.fromkeys(("RBandwidth", "LBandwidth"), rate)
    others |= dict.fromkeys(("RLatency", "LLatency"), Literal(latency))
    if memory is not None and isinstance(memory.expression, Literal) and isinstance(memory.expression.value, int):
        others["MemorySize"] = Literal(memory.expression.value // _MIB)
    for name, expression in others.items():
        attributes.setdefault(name.lower(), Attribute(name, expression))


def _texts(values: Sequence[str]) -> ListOf:
    return ListOf(tuple(Literal(value) for value in values))


def _least_latency(network: Topology) -> dict[str, float]:
    """Seconds on the best link of each node."""
    columns, latency = link_columns(network), latencies(network.links)
    least = np.full(len(network.nodes), np.inf)
    for ends in (columns.source, columns.target):
        np.minimum.at(least, ends, latency)
    return {node.id: value for node, value in zip(network.nodes, least.tolist(), strict=True) if value < np.inf}
