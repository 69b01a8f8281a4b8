"""Room on nodes: what each has, what jobs take of it, and how many ranks of another job still fit there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scheduling.jobs.core.cluster_options import ClusterOptions, gres_counts
from scheduling.jobs.core.rank_request import RankRequest


@dataclass(frozen=True, slots=True)
class Use:
    """What a job takes of a node. memory: MB; exclusive: nobody else may be there."""

    cpus: int
    memory: int = 0
    gres: Mapping[str, int] = field(default_factory=dict)
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """What a node has: cpus, memory in MB, and other resources by name; None where nobody says. allocated: what its
    cluster has given to jobs there, the portal's and others'."""

    cpus: int | None = None
    memory: int | None = None
    gres: Mapping[str, int] | None = None
    allocated: Use | None = None

    def slots(self, asked: RankRequest) -> int:
        """How many ranks of a job there is room for."""
        return asked.slots(self.cpus, self.memory, self.gres)


#: What a job takes, by node.
Uses = Mapping[str, Use]


def uses(asked: RankRequest, nodes: Iterable[str], *, exclusive: bool = False) -> dict[str, Use]:
    """What a job takes of each node; `nodes` has each once for each of its ranks.

    >>> uses(RankRequest(ranks=3, cpus_per_rank=2), ["n1", "n1", "n2"])["n1"].cpus
    4
    """
    gres = gres_counts(asked.gres_per_rank)
    return {
        node: Use(
            ranks * asked.cpus_per_rank,
            ranks * (asked.memory_per_rank or 0),
            {name: ranks * count for name, count in gres.items()},
            exclusive,
        )
        for node, ranks in Counter(nodes).items()
    }


def most(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The nodes of groups of which one runs at a time where they meet: each node as often as in the fullest of them.

    >>> most([["n1", "n1"], ["n1", "n2"]])
    ('n1', 'n1', 'n2')
    """
    ranks: Counter[str] = Counter()
    for group in groups:
        ranks |= Counter(group)
    return tuple(ranks.elements())


@dataclass
class Ledger:
    """Which jobs take what of which node. shared: several jobs may be on a node whose cpus are known."""

    rooms: Mapping[str, NodeRoom]
    shared: bool = False
    taken: dict[str, dict[int, Use]] = field(default_factory=dict)

    def take(self, job: int, taking: Uses) -> None:
        """The job takes this from now on, and as much at least of what it has already."""
        for node, use in taking.items():
            has = self.taken.setdefault(node, {})
            before = has.get(job)
            has[job] = use if before is None else _larger(before, use)

    def drop(self, job: int) -> None:
        """The job takes nothing any more."""
        for node in [node for node, has in self.taken.items() if has.pop(job, None) and not has]:
            del self.taken[node]

    def holders(self, node: str) -> list[int]:
        """The jobs on a node, the one that came last at the end."""
        return list(self.taken.get(node, ()))

    def slots(self, node: str, asked: RankRequest, *, exclusive: bool = False, empty: bool = False) -> int:
        """How many ranks fit on a node now; with `empty` how many if nobody was there."""
        has = () if empty else self._present(node)
        if not has:
            return self._room(node).slots(asked)
        if not self._is_shared(node, has, exclusive=exclusive):
            return 0
        return _left(self._room(node), has).slots(asked)

    def fits(self, taking: Uses) -> bool:
        """Whether all of it is to be had now."""
        return all(self._has(node, use) for node, use in taking.items())

    def free_cpus(self, node: str) -> int:
        """Processors that nobody has; of a node whose cpus nobody says one, while nobody is there."""
        has = self._present(node)
        if not has:
            return self.cpus(node)
        left = _left(self._room(node), has)
        return max(0, left.cpus or 0) if self._is_shared(node, has, exclusive=False) else 0

    def cpus(self, node: str) -> int:
        """All processors; one where nobody says."""
        return self._room(node).cpus or 1

    def _room(self, node: str) -> NodeRoom:
        return self.rooms.get(node, NodeRoom())

    def _present(self, node: str) -> tuple[Use, ...]:
        """What the portal's jobs take of a node; where jobs share nodes, also what others have there."""
        ours, allocated = tuple(self.taken.get(node, {}).values()), self._room(node).allocated
        return (*ours, *_others(allocated, ours)) if self.shared and allocated else ours

    def _has(self, node: str, use: Use) -> bool:
        has = self._present(node)
        if not has:
            return True
        if not self._is_shared(node, has, exclusive=use.exclusive):
            return False
        left = _left(self._room(node), has)
        cpus, memory = left.cpus is None or use.cpus <= left.cpus, left.memory is None or use.memory <= left.memory
        return cpus and memory and all(count <= (left.gres or {}).get(name, 0) for name, count in use.gres.items())

    def _is_shared(self, node: str, has: Sequence[Use], *, exclusive: bool) -> bool:
        known = self._room(node).cpus is not None
        return self.shared and known and not exclusive and not any(use.exclusive for use in has)


def _left(room: NodeRoom, has: Iterable[Use]) -> NodeRoom:
    cpus, memory, gres = room.cpus, room.memory, dict(room.gres or {})
    for use in has:
        cpus = None if cpus is None else cpus - use.cpus
        memory = None if memory is None else memory - use.memory
        for name, count in use.gres.items():
            for kind in {name, name.partition(":")[0]} & gres.keys():
                gres[kind] -= count
    return NodeRoom(cpus, memory, None if room.gres is None else gres)


def _others(allocated: Use, ours: Sequence[Use]) -> Iterator[Use]:
    """What a cluster has given to jobs on a node beyond what the portal's take there.

    >>> next(_others(Use(6, 0, {"gpu": 2}), [Use(4, 0, {"gpu": 1})]))
    Use(cpus=2, memory=0, gres={'gpu': 1}, exclusive=False)
    >>> list(_others(Use(2), [Use(4)]))
    []
    """
    cpus = max(0, allocated.cpus - sum(use.cpus for use in ours))
    memory = max(0, allocated.memory - sum(use.memory for use in ours))
    known = {name: sum(use.gres.get(name, 0) for use in ours) for name in allocated.gres}
    gres = {name: count - known[name] for name, count in allocated.gres.items() if count > known[name]}
    if cpus or gres:
        yield Use(cpus, memory, gres)


def _larger(one: Use, other: Use) -> Use:
    names = one.gres.keys() | other.gres.keys()
    gres = {name: max(one.gres.get(name, 0), other.gres.get(name, 0)) for name in names}
    return Use(max(one.cpus, other.cpus), max(one.memory, other.memory), gres, one.exclusive or other.exclusive)


class Size(NamedTuple):
    """How many nodes a job takes, at least, and how many processors on all of them together."""

    nodes: int
    cpus: int

    @classmethod
    def of(cls, job: Sized) -> Size:
        """Of a job, from its columns."""
        return cls(job.node_count, job.ranks * (job.options.cpus_per_rank or job.cpus_per_rank))


class Sized(Protocol):
    """What has the columns of a job."""

    @property
    def ranks(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def cpus_per_rank(self) -> int: ...
    @property
    def options(self) -> ClusterOptions: ...


@dataclass(frozen=True, slots=True)
class FreeRoom:
    """How many nodes have room, how many there are, and their processors where jobs share nodes, else None."""

    nodes: int
    of_nodes: int
    cpus: int | None = None
    of_cpus: int | None = None

    @classmethod
    def of(cls, ledger: Ledger, names: Sequence[str]) -> FreeRoom:
        """Of these nodes."""
        if not ledger.shared:
            return cls(sum(name not in ledger.taken for name in names), len(names))
        free = [ledger.free_cpus(name) for name in names]
        return cls(sum(cpus > 0 for cpus in free), len(names), sum(free), sum(map(ledger.cpus, names)))

    def admits(self, nodes: int, cpus: int) -> bool:
        """Whether so many nodes and processors are free, of whichever nodes."""
        return nodes <= self.nodes and (self.cpus is None or cpus <= self.cpus)

    def never_admits(self, nodes: int, cpus: int) -> bool:
        """Whether there are not that many at all."""
        return nodes > self.of_nodes or (self.of_cpus is not None and cpus > self.of_cpus)
