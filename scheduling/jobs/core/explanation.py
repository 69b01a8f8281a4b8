"""Why the other nodes were not taken, and what a better link would buy, as a placement keeps it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core import link_ends
from scheduling.jobs.core.link_ends import LinkEnds

#: So many nodes are kept each with its own reason where nothing else is said; of more there are the counts.
MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class NodeReason:
    """A compute node that was not taken, and why."""

    node: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class NextLink:
    """links: those that hold the slowest pairs, by their ends. bandwidth: bit/s of these pairs now. then: bit/s of the
    slowest pair if those links never held anybody up, None where no other link would; binding: what would hold it then.
    """

    links: tuple[LinkEnds, ...]
    bandwidth: float
    then: float | None = None
    binding: LinkEnds | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> NextLink:
        """From its document."""
        binding = document.get("binding")
        links = tuple(link_ends.read(link) for link in document["links"])
        return cls(links, document["bandwidth"], document.get("then"), link_ends.read(binding) if binding else None)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `NextLink.read`."""
        binding = link_ends.document(self.binding) if self.binding else None
        links = [link_ends.document(link) for link in self.links]
        return {"links": links, "bandwidth": self.bandwidth, "then": self.then, "binding": binding}


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many nodes one kind of reason left out, with the reason of one of them."""

    reason: Reason
    nodes: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """counts: by kind of reason, the most nodes first. nodes: each with its own reason, where they are not too many.
    among: between which nodes or sets alone the choice was made; remarks: what is not used of a mapper's answer, or
    of the request.

    >>> Explanation.of([NodeReason("n3", Reason.read({"code": "node_not_drawn", "facts": {}}))], None).counts[0].nodes
    1
    """

    counts: tuple[ReasonCount, ...] = ()
    nodes: tuple[NodeReason, ...] = ()
    next_link: NextLink | None = None
    among: Reason = NOTHING
    remarks: tuple[Reason, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[NodeReason], next_link: NextLink | None, most: int = MOST_KEPT) -> Explanation:
        """What is kept of the reasons of all nodes: of each where there are `most` at most, else the counts."""
        everyone = tuple(nodes)
        kept = everyone if len(everyone) <= most else ()
        return cls(tuple(_counted(everyone)), kept, next_link)

    @classmethod
    def some_of(cls, nodes: Sequence[NodeReason], most: int) -> Explanation:
        """The same with the first `most` nodes by name, and the counts of all."""
        return cls(tuple(_counted(nodes)), tuple(nodes[:most]))

    @property
    def left(self) -> int:
        """How many nodes were not taken."""
        return sum(each.nodes for each in self.counts)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Explanation:
        """From its document; empty where there is none."""
        found = document.get("next_link")
        return cls(
            tuple(ReasonCount(Reason.read(each["reason"]), each["nodes"]) for each in document.get("counts", ())),
            tuple(NodeReason(each["node"], Reason.read(each["reason"])) for each in document.get("nodes", ())),
            NextLink.read(found) if found else None,
            Reason.read(document.get("among")),
            tuple(map(Reason.read, document.get("remarks", ()))),
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Explanation.read`."""
        made: dict[str, Any] = {
            "counts": [{"reason": each.reason.document(), "nodes": each.nodes} for each in self.counts],
            "nodes": [{"node": each.node, "reason": each.reason.document()} for each in self.nodes],
            "next_link": self.next_link.document() if self.next_link else None,
        }
        if self.among:
            made["among"] = self.among.document()
        if self.remarks:
            made["remarks"] = [each.document() for each in self.remarks]
        return made


#: Where nobody looked.
NO_EXPLANATION = Explanation()


def _counted(reasons: Iterable[NodeReason]) -> list[ReasonCount]:
    number: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], Reason] = {}
    for each in reasons:
        kind = each.reason.code.value, str(each.reason.facts.get("condition") or each.reason.facts.get("option", ""))
        number[kind] += 1
        example.setdefault(kind, each.reason)
    return [ReasonCount(example[kind], count) for kind, count in number.most_common()]
