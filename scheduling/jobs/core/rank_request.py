"""How many ranks a job asks for, on how many nodes, and what each of them needs: the words of sbatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from gridportal.base.checked_numbers import is_whole, whole
from gridportal.base.errors import InputError
from scheduling.jobs.core import cluster_options
from scheduling.jobs.core.cluster_options import ClusterOptions

#: The most ranks, nodes, and ranks on a node that a job can ask for.
MOST = 4096
_MOST_CPUS = 4096
_MOST_MEMORY = 2**30
_COUNTS = ("ranks", "nodes", "ranks_per_node")


class RankColumns(Protocol):
    """What rows and what people send have of it, beside the nodes."""

    @property
    def ranks(self) -> int | None: ...
    @property
    def ranks_per_node(self) -> int | None: ...
    @property
    def cpus_per_rank(self) -> int: ...
    @property
    def memory_per_rank(self) -> int | None: ...
    @property
    def gres_per_rank(self) -> str: ...
    @property
    def options(self) -> ClusterOptions: ...


@dataclass(frozen=True)
class RankRequest:
    """What a job asks for; None where that is open.

    ranks, nodes, ranks_per_node: counts; ranks alone leaves the nodes to the selection, nodes alone means one rank on
    each, ranks_per_node alone means one node, and with `ranks` it is the most that a node may get. cpus_per_rank:
    threads; memory_per_rank: MB of 2**20 bytes; gres_per_rank: such as gpu:1.

    Raises InputError for counts that do not agree and for amounts that nobody can have.

    >>> RankRequest(nodes=4).total, RankRequest(nodes=2, ranks_per_node=4).total, RankRequest(ranks=8).nodes
    (4, 8, None)
    """

    ranks: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    cpus_per_rank: int = 1
    memory_per_rank: int | None = None
    gres_per_rank: str = ""
    most: int = field(default=MOST, repr=False, compare=False)

    @classmethod
    def of(cls, asked: RankColumns, nodes: int | None, *, most: int = MOST) -> RankRequest:
        """From its columns. The cluster's option cpus_per_rank, by which it was asked for first, says the same.

        most: jobs that ran elsewhere, and are read from a log, may have more ranks than the portal starts.
        """
        cpus = asked.options.cpus_per_rank or asked.cpus_per_rank
        if asked.cpus_per_rank not in (1, cpus):
            raise InputError("cpus_per_rank", asked.cpus_per_rank, f"{cpus}, as the option of that name says")
        amounts = (cpus, asked.memory_per_rank, asked.gres_per_rank)
        return cls(asked.ranks, nodes, asked.ranks_per_node, *amounts, max(MOST, most))

    def __post_init__(self) -> None:
        for name in _COUNTS:
            _optional(name, getattr(self, name), self.most, f"a whole number from 1 to {self.most}, or nothing")
        whole("cpus_per_rank", self.cpus_per_rank, 1, _MOST_CPUS)
        _optional("memory_per_rank", self.memory_per_rank, _MOST_MEMORY, f"whole MB from 1 to {_MOST_MEMORY}")
        if self.gres_per_rank != "":
            cluster_options.check_gres("gres_per_rank", self.gres_per_rank)
        self._check_agreement()

    def _check_agreement(self) -> None:
        if self.total > self.most:
            accepted = (
                f"at most {MOST // (self.nodes or 1)} on {self.nodes} nodes, for a job has at most {MOST:,} ranks"
            )
            raise InputError("ranks_per_node", self.ranks_per_node, accepted)
        check_agreement(self.total, self.nodes, self.ranks_per_node)

    @cached_property
    def total(self) -> int:
        """How many ranks there are."""
        return self.ranks or (self.nodes or 1) * (self.ranks_per_node or 1)

    @property
    def nodes_asked(self) -> int | None:
        """On how many nodes they are to run; None: the selection decides.

        >>> RankRequest(ranks_per_node=4).nodes_asked, RankRequest(ranks=6, ranks_per_node=4).nodes_asked
        (1, None)
        """
        return self.nodes or (None if self.ranks else 1)

    @property
    def is_one_a_node(self) -> bool:
        """Whether each rank has a node of its own."""
        return self.nodes_asked == self.total or self.ranks_per_node == 1

    def least_nodes(self, slots: int = MOST) -> int:
        """How many nodes it takes at least, where none has more than `slots`.

        >>> RankRequest(ranks=8).least_nodes(4), RankRequest(nodes=3).least_nodes()
        (2, 3)
        """
        most = min(self.ranks_per_node or MOST, max(slots, 1))
        return self.nodes_asked or -(-self.total // most)

    def slots(self, cpus: int | None, memory: int | None = None, gres: Mapping[str, int] | None = None) -> int:
        """How many ranks a node has room for: `cpus`, `memory` in MB and `gres` by name as it has them, or as they are
        free; None where nobody says. Of a node whose cpus nobody says one, or as many as `ranks_per_node` asks for.

        >>> RankRequest(ranks=8, cpus_per_rank=2).slots(8), RankRequest(ranks=8).slots(None)
        (4, 1)
        >>> RankRequest(ranks=2, gres_per_rank="gpu:2").slots(16, gres={"gpu": 5, "gpu:a100": 5})
        2
        """
        room = [self.ranks_per_node or (1 if cpus is None else MOST)]
        if cpus is not None:
            room.append(cpus // self.cpus_per_rank)
        if memory is not None and self.memory_per_rank:
            room.append(memory // self.memory_per_rank)
        if gres is not None:
            counts = cluster_options.gres_counts(self.gres_per_rank)
            room += [gres.get(name, 0) // count for name, count in counts.items()]
        return max(0, min(room))

    def without_what_follows(self) -> RankRequest:
        """The same without a number of ranks that the nodes and the ranks a node give, so that these can be changed.

        >>> RankRequest(ranks=4, nodes=4).without_what_follows() == RankRequest(nodes=4)
        True
        """
        short = RankRequest(None, self.nodes, self.ranks_per_node)
        if self.nodes is None or short.total != self.total:
            return self
        asked = (self.cpus_per_rank, self.memory_per_rank, self.gres_per_rank)
        return RankRequest(None, self.nodes, self.ranks_per_node, *asked)


def check_agreement(ranks: int, nodes: int | None, ranks_per_node: int | None) -> None:
    """Raises InputError where so many ranks are too few for the nodes, or do not fit on them."""
    if nodes is None:
        return
    if ranks < nodes:
        raise InputError("nodes", nodes, f"at most {ranks}, one for each rank")
    if ranks_per_node is not None and ranks > nodes * ranks_per_node:
        has = f"{nodes} nodes with at most {ranks_per_node} ranks each"
        raise InputError("ranks", ranks, f"at most {nodes * ranks_per_node}, which is {has}")


def _optional(name: str, value: object, most: int, accepted: str) -> None:
    if value is not None and not (is_whole(value) and 1 <= value <= most):
        raise InputError(name, value, accepted)
