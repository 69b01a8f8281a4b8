"""The groups of nodes that were weighed for a job, as its placement keeps them: reader and writer side by side.

The selection makes them, the trial of a skeleton adds what it found, and charts, pages and REST read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core import link_ends
from scheduling.jobs.core.link_ends import LinkEnds


@dataclass(frozen=True, slots=True)
class Objective:
    """What a group offers: bit/s on its slowest communicating pair, and the lowest available processor share of its
    nodes; None where there is none, or nobody knows."""

    min_bandwidth: float | None = None
    min_cpu: float | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Objective:
        """From its document."""
        return cls(document.get("min_bandwidth"), document.get("min_cpu"))

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Objective.read`."""
        return {"min_bandwidth": self.min_bandwidth, "min_cpu": self.min_cpu}


@dataclass(frozen=True, slots=True)
class RankPair:
    """Two ranks that talk, the nodes they run on, bit/s (None: unknown) and weight; when the figure that binds was
    measured (Unix seconds, None: never) and its origin (None in rows of versions that did not keep either); link: the
    one that binds, by its ends (None without a path, within a node, and in rows of versions that did not keep it)."""

    ranks: tuple[int, int]
    source: str
    target: str
    bandwidth: float | None
    weight: float
    measured_at: float | None = None
    origin: str | None = None
    link: LinkEnds | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> RankPair:
        """From its document."""
        first, second = document["ranks"]
        link = document.get("link")
        return cls(
            ranks=(first, second),
            source=document["source"],
            target=document["target"],
            bandwidth=document.get("bandwidth"),
            weight=document.get("weight", 1.0),
            measured_at=document.get("measured_at"),
            origin=document.get("origin"),
            link=link_ends.read(link) if link else None,
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `RankPair.read`."""
        found: dict[str, Any] = {"source": self.source, "target": self.target, "ranks": list(self.ranks)}
        found |= {"bandwidth": self.bandwidth, "weight": self.weight}
        found |= {} if self.origin is None else {"measured_at": self.measured_at, "origin": self.origin}
        return found | ({"link": link_ends.document(self.link)} if self.link else {})


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The slowest pair of a group; its `link` is None where the whole path counts as one."""

    pair: RankPair

    @property
    def link(self) -> LinkEnds | None:
        """The link on its path that binds."""
        return self.pair.link

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Bottleneck:
        """From its document."""
        return cls(RankPair.read(document))

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Bottleneck.read`."""
        return self.pair.document() | ({} if self.link else {"link": None})

    @property
    def ends(self) -> LinkEnds:
        """The ends of what binds: of the link, else of the pair."""
        return self.link or (self.pair.source, self.pair.target)


@dataclass(frozen=True, slots=True)
class SkeletonResult:
    """How the job's skeleton fared on a group: the state of its run, why it did not end (None in rows of versions that
    did not keep that), the seconds it took, the seconds predicted for the job."""

    state: str
    cause: str | None = None
    seconds: float | None = None
    predicted: float | None = None
    reason: Reason = NOTHING

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> SkeletonResult:
        """From its document."""
        values = {name: document.get(name) for name in ("cause", "seconds", "predicted")}
        return cls(state=str(document.get("state", "")), reason=Reason.read(document.get("reason", "")), **values)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `SkeletonResult.read`."""
        found: dict[str, Any] = {"state": self.state}
        found |= {} if self.cause is None else {"cause": self.cause}
        return found | {"seconds": self.seconds, "predicted": self.predicted, "reason": self.reason.document()}


@dataclass(frozen=True, slots=True)
class CandidateGroup:
    """One group of nodes in rank order, and why it was taken or left.

    edges: its pairs that talk, at most the slowest 2,016. score: what the method maximised; proved: no group that is
    not listed before it has a higher one; bound: what no group's score exceeds. Once the skeleton was tried, or a
    person took another group: place (in the selection's own order), selected (the selection's reason) and skeleton.
    None: not kept.

    >>> group = CandidateGroup.read({"nodes": ["n1", "n2"], "objective": {"min_bandwidth": 4e7, "min_cpu": 1.0}})
    >>> group.nodes, group.objective.min_bandwidth, group.bottleneck
    (('n1', 'n2'), 40000000.0, None)
    """

    nodes: tuple[str, ...]
    objective: Objective = Objective()
    bottleneck: Bottleneck | None = None
    edges: tuple[RankPair, ...] = field(default=(), repr=False)
    score: float | None = None
    proved: bool | None = None
    bound: float | None = None
    reason: Reason = NOTHING
    place: int | None = None
    selected: Reason | None = None
    skeleton: SkeletonResult | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> CandidateGroup:
        """From its document, also one of an earlier version."""
        slowest, tried = document.get("bottleneck"), document.get("skeleton")
        return cls(
            nodes=tuple(document["nodes"]),
            objective=Objective.read(document.get("objective") or {}),
            bottleneck=Bottleneck.read(slowest) if slowest else None,
            edges=tuple(RankPair.read(edge) for edge in document.get("edges") or ()),
            score=document.get("score"),
            proved=document.get("proved"),
            bound=document.get("bound"),
            reason=Reason.read(document.get("reason", "")),
            place=document.get("place"),
            selected=Reason.read(document["selected"]) if "selected" in document else None,
            skeleton=SkeletonResult.read(tried) if tried else None,
        )

    @property
    def gap(self) -> float | None:
        """By what part of the bound its score is below it at most."""
        return gap(self.score, self.bound)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `CandidateGroup.read`; what is not kept is left out."""
        found = {
            "nodes": list(self.nodes),
            "objective": self.objective.document(),
            "bottleneck": self.bottleneck.document() if self.bottleneck else None,
            "edges": [edge.document() for edge in self.edges],
            "score": self.score,
            "proved": self.proved,
            "bound": self.bound,
            "gap": self.gap,
            "reason": self.reason.document(),
            "place": self.place,
            "selected": self.selected.document() if self.selected is not None else None,
            "skeleton": self.skeleton.document() if self.skeleton else None,
        }
        return {name: value for name, value in found.items() if value is not None or name == "bottleneck"}


def gap(score: float | None, bound: float | None) -> float | None:
    """By what part of the bound a score is below it: 0 where it has been reached; None where either is not known.

    >>> round(gap(9.0, 10.0) or 0.0, 3), gap(9.0, None)
    (0.1, None)
    """
    if score is None or bound is None:
        return None
    return max(0.0, 1.0 - score / bound) if bound > 0 else 0.0


def placed(groups: Sequence[CandidateGroup]) -> dict[int, CandidateGroup]:
    """The groups by their place in the selection's own order, from 0, as they are listed."""
    return {at if group.place is None else group.place: group for at, group in enumerate(groups)}
