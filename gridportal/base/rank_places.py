"""Where ranks are, told shortly: nodes rank by rank as the ranks that each node has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby


def ranks_of(nodes: Iterable[str]) -> dict[str, list[int]]:
    """The ranks on each node, nodes in the order of their first rank.

    >>> ranks_of(["n2", "n1", "n2"])
    {'n2': [0, 2], 'n1': [1]}
    """
    places: dict[str, list[int]] = {}
    for rank, node in enumerate(nodes):
        places.setdefault(node, []).append(rank)
    return places


def ranks_by_node(nodes: Iterable[str]) -> dict[str, int]:
    """How many ranks each node has, in the order in which the nodes come first.

    >>> ranks_by_node(["b", "a", "b"])
    {'b': 2, 'a': 1}
    """
    return dict(Counter(nodes))


def distinct(nodes: Iterable[str]) -> tuple[str, ...]:
    """Each node once, in the order of its first rank."""
    return tuple(dict.fromkeys(nodes))


def ranges(ranks: Sequence[int]) -> str:
    """Rising numbers with their runs drawn together.

    >>> ranges([0, 1, 2, 5]), ranges([3]), ranges([0, 2, 4])
    ('0-2, 5', '3', '0, 2, 4')
    """
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][-1] == rank - 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def numbered(ranks: Sequence[int]) -> str:
    """
    >>> numbered([0, 1]), numbered([4])
    ('ranks 0-1', 'rank 4')
    """
    return f"rank{'' if len(ranks) == 1 else 's'} {ranges(ranks)}"


def in_full(nodes: Sequence[str]) -> str:
    """Every node with its ranks.

    >>> in_full(["n1", "n1", "n2", "n2"])
    'n1: ranks 0-1; n2: ranks 2-3'
    """
    return "; ".join(f"{node}: {numbered(ranks)}" for node, ranks in ranks_of(nodes).items())


def in_short(nodes: Sequence[str], between: str = " ") -> str:
    """Every node, with how many ranks it has where that is not one.

    >>> in_short(["n1", "n1", "n2"]), in_short(["n1", "n2"], ", ")
    ('n1 ×2 n2', 'n1, n2')
    """
    return between.join(node if count == 1 else f"{node} ×{count}" for node, count in ranks_by_node(nodes).items())


def in_rank_order(nodes: Sequence[str]) -> str:
    """Rank by rank, ranks that follow each other on one node taken together.

    >>> in_rank_order(["n1", "n1", "n2", "n1"])
    'n1 ×2 n2 n1'
    """
    runs = ((node, len(list(ranks))) for node, ranks in groupby(nodes))
    return " ".join(node if count == 1 else f"{node} ×{count}" for node, count in runs)


def size(ranks: int, nodes: int | None) -> str:
    """How many ranks on how many nodes; nodes None: not known yet.

    >>> size(4, 4), size(8, 2), size(8, None), size(1, 1)
    ('4 nodes', '8 ranks on 2 nodes', '8 ranks', '1 node')
    """
    return full_size(ranks, nodes) if nodes != ranks else f"{nodes} node{'' if nodes == 1 else 's'}"


def full_size(ranks: int, nodes: int | None) -> str:
    """The same, where each is said whatever the other is.

    >>> full_size(4, 4), full_size(8, None), full_size(1, 1)
    ('4 ranks on 4 nodes', '8 ranks', '1 rank on 1 node')
    """
    of_ranks = f"{ranks} rank{'' if ranks == 1 else 's'}"
    return of_ranks if nodes is None else f"{of_ranks} on {nodes} node{'' if nodes == 1 else 's'}"
