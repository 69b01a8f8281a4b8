"""Nodes rank by rank, where a node stands once for each of its ranks: their order, and how launchers are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from gridportal.base import run_files
from gridportal.base.rank_places import ranks_by_node


def is_even(nodes: Sequence[str]) -> bool:
    """Whether all nodes have the same number of ranks.

    >>> is_even(["a", "b", "b", "a"]), is_even(["a", "a", "b"])
    (True, False)
    """
    return len(set(ranks_by_node(nodes).values())) <= 1


def ranks_before(nodes: Sequence[str]) -> list[int]:
    """For each rank how many ranks of a lower number are on its node.

    >>> ranks_before(["a", "b", "a", "a"])
    [0, 0, 1, 2]
    """
    seen: Counter[str] = Counter()
    places = []
    for node in nodes:
        places.append(seen[node])
        seen[node] += 1
    return places


def hydra_hosts(nodes: Sequence[str]) -> list[str]:
    """The list of hosts from which Hydra's mpiexec makes this order of ranks.

    Hydra goes through its hosts again where there are more ranks, takes a host that stands there twice in a row for one
    with room for two, and one that comes again later for another: between these MPICH uses no shared memory. So the
    list is the part that has all nodes, each in one place, and gives the order when it is repeated; where there is no
    such part, it is all of it (and scheduling.runs.core.hydra_ranks tells more where it can).

    >>> hydra_hosts(["a", "a", "b"]), hydra_hosts(["a", "b", "a", "b"]), hydra_hosts(["a", "b", "b", "a"])
    (['a', 'a', 'b'], ['a', 'b'], ['a', 'b', 'b'])
    >>> hydra_hosts(["a", "b", "c", "a", "c"])
    ['a', 'b', 'c', 'a', 'c']
    """
    return _part(nodes) if is_in_turn(nodes) else list(nodes)


def is_in_turn(nodes: Sequence[str]) -> bool:
    """Whether a part of the order in which each node has one place gives all of it when it is repeated.

    >>> is_in_turn(["a", "b", "b", "a", "b", "b"]), is_in_turn(["a", "b", "a", "a"])
    (True, False)
    """
    part = _part(nodes)
    return all(node == part[at % len(part)] for at, node in enumerate(nodes))


def _part(nodes: Sequence[str]) -> list[str]:
    """From the first rank on as many blocks of ranks of one node as there are nodes."""
    blocks = [list(block) for _, block in groupby(nodes)]
    return [node for block in blocks[: len(set(nodes))] for node in block]


def write_hosts(folder: Path, nodes: Sequence[str]) -> Path:
    """Write the nodes, a line for each rank, into a file in `folder` for launchers that read one; its path."""
    path = folder / run_files.HOSTS
    path.write_text("".join(f"{node}\n" for node in nodes), encoding="utf-8")
    return path
