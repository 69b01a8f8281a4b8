"""Whether the nodes of a cluster, all of them free, have room for the ranks that a job asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gridportal.base.errors import ImpossibleError, InputError
from scheduling.jobs.core.cluster_options import ClusterOptions, gres_counts
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.placing.core.room import NodeRoom
from scheduling.placing.selectors.rooms import rooms

_MB = 2**20


def least_nodes(asked: RankRequest, cluster: str, partition: str = "") -> int:
    """On how many nodes of the cluster, or of its `partition`, the ranks run at least, as far as these are known.

    Raises InputError or ImpossibleError for what no node, or not so many nodes, can offer.
    """
    is_plain = asked == RankRequest(asked.ranks, asked.nodes, asked.ranks_per_node)
    if asked.is_one_a_node and is_plain:
        return asked.least_nodes()  # so that most jobs cost no look at all nodes
    known = rooms(cluster, partition)
    if not known:
        return asked.least_nodes()
    slots = sorted((room.slots(asked) for room in known.values()), reverse=True)
    if not slots[0]:
        _check_one_rank(asked, known.values(), cluster, f" in partition {partition}" if partition else "")
    usable = [count for count in slots if count]
    if asked.nodes_asked and asked.nodes_asked > len(usable):
        have = f"at most {len(usable)}, so many nodes of {cluster} have room for such a rank"
        raise InputError("node_count", asked.nodes_asked, have)
    fit = sum(usable[: asked.nodes_asked])
    if fit < asked.total:
        where = f"{asked.nodes_asked} nodes of {cluster} have" if asked.nodes_asked else f"{cluster} has"
        each = f": {slots[0]} a node at most" if asked.nodes_asked else ""
        enough = f", {_fewest(usable, asked.total)} nodes for all" if sum(usable) >= asked.total else ""
        raise InputError("ranks", asked.total, f"at most {fit}, for so many such ranks {where} room{each}{enough}")
    return asked.nodes_asked or _fewest(usable, asked.total)


def check_node_options(options: ClusterOptions, cluster: str, partition: str) -> None:
    """Raises InputError for memory or GRES of a node that none of the partition has, as far as they are known."""
    if not partition or not (options.memory or options.gres):
        return
    known = rooms(cluster, partition).values()
    end = f", the most that a node of partition {partition} has"
    memory = max((room.memory or 0 for room in known), default=0)
    if memory and options.memory and options.memory > memory * _MB:
        raise InputError("memory", options.memory, f"at most {memory * _MB}{end}")
    if any(room.gres is not None for room in known):
        _check_gres("gres", options.gres, known, end, f"no node of partition {partition} has it")


def _check_gres(field: str, asked: str, known: Collection[NodeRoom], end: str, none: str) -> None:
    for name, count in gres_counts(asked).items():
        most = max(((room.gres or {}).get(name, 0) for room in known), default=0)
        if count > most:
            raise InputError(field, asked, f"at most {name}:{most}{end}" if most else f"nothing of {name}: {none}")


def _fewest(slots: Iterable[int], ranks: int) -> int:
    """How many of the largest nodes hold all ranks."""
    count = 0
    for count, room in enumerate(slots, 1):  # noqa: B007  # it is what is asked for
        ranks -= room
        if ranks <= 0:
            break
    return count


def _check_one_rank(asked: RankRequest, known: Collection[NodeRoom], cluster: str, where: str) -> None:
    """Raises the error that says what of one rank no node has."""
    end = f", the most that a node of {cluster} has{where}"
    cpus = max((room.cpus or 0 for room in known), default=0)
    if cpus and asked.cpus_per_rank > cpus:
        raise InputError("cpus_per_rank", asked.cpus_per_rank, f"at most {cpus}{end}")
    memory = max((room.memory or 0 for room in known), default=0)
    if memory and asked.memory_per_rank and asked.memory_per_rank > memory:
        raise InputError("memory_per_rank", asked.memory_per_rank, f"at most {memory}{end}")
    _check_gres("gres_per_rank", asked.gres_per_rank, known, end, f"no node of {cluster} has it{where}")
    raise ImpossibleError(
        f"No node of {cluster}{where} has all at once that a rank of this job needs; ask for less of it."
    )
