"""What is asked of the selection and what it answers: plain values, for the command line, the API and the pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core import candidates
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.methods import CANDIDATES, Method
from scheduling.jobs.core.patterns import Pattern


@dataclass(frozen=True)
class Request:
    """A question to `select`.

    As sbatch counts them: nodes alone: so many compute nodes, one rank each. ranks alone: the selection decides on how
    many nodes. nodes with ranks_per_node: their product of ranks. ranks with ranks_per_node: so many ranks on one node
    at most. slots: room for ranks on each compute node by its name; a node that it does not name has one slot, or
    ranks_per_node of them. specification: groups of ranks with requirements of their own, pins, excluded nodes, and the
    pairs that talk where no pattern is given.
    candidates: how many groups to return, the chosen one included. differ: in how many nodes each of them differs
    from every other at least.
    compute_priority: 2 makes 50 % cpu count as 25 % of the bandwidth (Selection 1999, 3.3). min_bandwidth: bit/s that
    every communicating pair must have. min_cpu: available fraction 0..1 that every node must have. require: labels
    such as {"site": "utk"}. reference_bandwidth: bit/s that count as 100 % in the balanced method (the reference link
    of Selection 1999, 3.3); without it each link is its own reference (bwfactor). exclude: node names never to use.
    time_budget: seconds for the exact search. seed: for the caller that makes the `rng`. flows: the pairs that talk do
    so all at once, so that a group is worth the least max-min rate among them (methods communication, pattern and
    balanced; balanced takes as 100 % what the nodes' own links would give to each of a node's flows if they were idle,
    counts a link with what one flow would get of it at most, and takes the pairs of `pattern` for those that talk where
    there is one). slack: groups whose lowest rate is up to this fraction below the best count as equals, of which the
    one whose messages take the least time by the pattern's weights is chosen (method pattern without `flows`).
    avoid: the one set of nodes that is drawn only where there is no other (method random).
    """

    nodes: int | None
    method: Method
    pattern: Pattern | None = None
    candidates: int = CANDIDATES
    seed: int = 0
    compute_priority: float = 1.0
    min_bandwidth: float = 0.0
    min_cpu: float = 0.0
    require: Mapping[str, str] = field(default_factory=dict)
    reference_bandwidth: float | None = None
    exclude: frozenset[str] = frozenset()
    time_budget: float = 5.0
    flows: bool = False
    slack: float = 0.0
    ranks: int | None = None
    ranks_per_node: int | None = None
    slots: Mapping[str, int] | None = None
    differ: int = 1
    specification: ApplicationSpecification | None = None
    avoid: frozenset[str] = frozenset()

    @property
    def rank_count(self) -> int:
        """How many ranks are to be placed."""
        if self.ranks is not None:
            return self.ranks
        of_groups = self.specification.ranks if self.specification and self.nodes is None else None
        return of_groups or (self.nodes or 1) * (self.ranks_per_node or 1)

    @property
    def node_count(self) -> int | None:
        """On how many nodes they are to be; None where the selection decides."""
        if self.nodes is not None:
            return self.nodes
        return self.rank_count if self.is_one_a_node else None

    @property
    def is_one_a_node(self) -> bool:
        """Whether each rank has a node of its own."""
        return self.ranks_per_node == 1 or self.rank_count in (1, self.nodes)

    @property
    def talking(self) -> Pattern | None:
        """The pattern, as it is given or as the specification has it."""
        if self.pattern is not None or self.specification is None:
            return self.pattern
        return self.specification.pattern()

    @property
    def excluded(self) -> frozenset[str]:
        """Nodes never to use."""
        return self.exclude | frozenset(self.specification.exclude if self.specification else ())

    @property
    def by_pattern(self) -> bool:
        """Whether only the pairs of the pattern count; else every pair does."""
        return self.method == "pattern" or (self.method == "balanced" and self.talking is not None)


@dataclass(frozen=True)
class Objective:
    """What a group offers.

    min_bandwidth: bit/s on its slowest communicating pair, None for a single node or a pattern without edges, 0 for a
    pair without a path. min_cpu: lowest available cpu times speed, a fraction of the reference node.
    """

    min_bandwidth: float | None
    min_cpu: float


@dataclass(frozen=True)
class EdgeRate:
    """One communicating pair: ranks, the nodes they run on, bit/s (the lower of the two directions) and weight;
    measured_at (Unix seconds, None: never) and origin (probe, window, forecast) of the figure that binds it; link: the
    one that binds it, None without a path."""

    ranks: tuple[int, int]
    source: str
    target: str
    bandwidth: float
    weight: float
    measured_at: float | None = None
    origin: str = ""
    link: tuple[str, str] | None = None


@dataclass(frozen=True)
class Candidate:
    """One group of nodes in rank order, a node once for each of its ranks; pairs inside a node take no link.

    bottleneck: its slowest communicating pair; link: the link on that pair's path that binds. edges: every
    communicating pair between nodes (of more than 2,016 only the slowest 2,016). score: the value that the method
    maximised, +inf for a bandwidth where no pair takes a link.
    proved: no group that is not listed before this one has a higher score. reason: why it won, or by what it lost.
    mean_cpu: what decides at last among groups that are equal in all else. bound: what no group's score exceeds, where
    that is known. level: bit/s that the slowest pair had to reach, where the time of messages decided among those.
    """

    nodes: tuple[str, ...]
    objective: Objective
    bottleneck: EdgeRate | None
    link: tuple[str, str] | None
    edges: tuple[EdgeRate, ...]
    score: float
    proved: bool
    reason: Reason = NOTHING
    mean_cpu: float = 0.0
    bound: float | None = None
    level: float | None = None

    @property
    def gap(self) -> float | None:
        """By what part of the bound its score is below it at most."""
        return candidates.gap(self.score, self.bound)


@dataclass(frozen=True)
class Selection:
    """The answer. nodes: the chosen group in rank order, which is also candidates[0]. seconds: time of the choice."""

    nodes: tuple[str, ...]
    method: Method
    objective: Objective
    bottleneck: EdgeRate | None
    optimal: bool
    candidates: tuple[Candidate, ...]
    seconds: float
    pattern: Pattern | None = None
    flows: bool = False


def document(selection: Selection) -> dict[str, Any]:
    """The JSON document of a selection."""
    groups = [candidate_group(candidate) for candidate in selection.candidates]
    slowest = groups[0].bottleneck
    return {
        "nodes": list(selection.nodes),
        "method": selection.method,
        "pattern": selection.pattern.name if selection.pattern else None,
        "flows": selection.flows,
        "objective": _objective(selection.objective).document(),
        "bottleneck": slowest.document() if slowest else None,
        "optimal": selection.optimal,
        "bound": groups[0].bound,
        "gap": groups[0].gap,
        "candidates": [group.document() for group in groups],
        "seconds": selection.seconds,
    }


def candidate_group(candidate: Candidate) -> candidates.CandidateGroup:
    """A candidate as a placement keeps it."""
    return candidates.CandidateGroup(
        nodes=candidate.nodes,
        objective=_objective(candidate.objective),
        bottleneck=_bottleneck(candidate),
        edges=tuple(_pair(edge) for edge in candidate.edges),
        score=candidate.score if math.isfinite(candidate.score) else candidate.objective.min_cpu,
        proved=candidate.proved,
        bound=candidate.bound,
        reason=candidate.reason,
    )


def _objective(objective: Objective) -> candidates.Objective:
    return candidates.Objective(objective.min_bandwidth, objective.min_cpu)


def _bottleneck(candidate: Candidate) -> candidates.Bottleneck | None:
    edge = candidate.bottleneck
    return candidates.Bottleneck(_pair(edge)) if edge else None


def _pair(edge: EdgeRate) -> candidates.RankPair:
    return candidates.RankPair(
        edge.ranks, edge.source, edge.target, edge.bandwidth, edge.weight, edge.measured_at, edge.origin, edge.link
    )
