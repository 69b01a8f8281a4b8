"""What one sweep over a cluster's network found, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridportal.network.topology import Topology


@dataclass(frozen=True, slots=True)
class PairRate:
    """One directed pair of compute nodes measured end to end: bit/s, and seconds one way where known."""

    source: str
    target: str
    bandwidth: float
    latency: float | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """What transfers at once were seen to carry over the link from `source` to `target`, bit/s; `filled`: and it could
    carry no more."""

    source: str
    target: str
    bandwidth: float
    filled: bool


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """A compute node's available cpu, 0..1 = 1/(1+load), and its load (runnable processes, smoothed)."""

    node: str
    cpu: float
    load: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """A sweep: when it began (Unix seconds), how long it took, how many bytes it sent, and what it found.

    `together`: of links behind slower ones, which pairs alone do not tell of (gridportal.network.joint_flows).
    """

    at: float
    seconds: float
    bytes: int
    pairs: tuple[PairRate, ...]
    loads: tuple[NodeLoad, ...]
    together: tuple[Together, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeState:
    """What the cluster says of a node: why it is closed ("" when it takes jobs), whether it is busy and until when
    at most (Unix seconds, None: not known), and facts to choose by: state, partitions, features, gres, ..."""

    node: str
    closed: str = ""
    busy: bool = False
    free_at: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at all nodes, without any transfer."""

    loads: tuple[NodeLoad, ...]
    states: tuple[NodeState, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What holds without measuring: structure and peak bandwidths, how it is built, and a warning to show people.

    `topology.links[].bandwidth` is the peak: what is available now is for the measurement to say. `offers`: what a
    job may ask for (partitions, features, gres, reservations, accounts, qos); empty where there is no choice. Of a Grid
    `isolation`: how far it keeps jobs apart, `node_limits`: what jobs may take on a node, and `processor`: the part of
    a processor of its machine that a node of speed 1 has.
    """

    topology: Topology
    mode: str
    warning: str
    offers: Mapping[str, Any] = field(default_factory=dict)
