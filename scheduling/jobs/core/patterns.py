"""Communication patterns as values: which ranks exchange data, and how much.

Source: Pattern 2003, 2.4: the application pattern graph A has an edge between two ranks that communicate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import InputError
from scheduling.jobs.core import nas, shapes
from scheduling.jobs.core.all_pairs import AllPairs, Edge
from scheduling.jobs.core.shapes import Pairs

MAX_RANKS = 4096
MAX_WEIGHT = 1e18  # bytes: sums over all pairs stay finite


@dataclass(frozen=True, slots=True)
class Pattern:
    """A graph over ranks 0..ranks-1: `edges` (a, b, weight) with a < b, each pair once; weight in bytes or relative.

    Where all pairs have the weight 1 they are no tuples but `AllPairs`.
    """

    name: str
    ranks: int
    edges: Sequence[Edge]

    def __post_init__(self) -> None:
        if isinstance(self.edges, AllPairs) or self.ranks < 2 or not self.is_all_to_all():
            return
        if all(weight == 1.0 for _, _, weight in self.edges):
            object.__setattr__(self, "edges", AllPairs(self.ranks))

    def describe(self) -> str:
        """The pattern in words.

        >>> named("ring", 4).describe()
        'ring of 4 ranks, 4 pairs talk'
        """
        ranks = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        talk = {0: "no pair talks", 1: "1 pair talks"}.get(len(self.edges), f"{len(self.edges)} pairs talk")
        return f"{self.name} of {ranks}, {talk}"

    def is_all_to_all(self) -> bool:
        """Whether every pair of ranks talks."""
        return len(self.edges) == self.ranks * (self.ranks - 1) // 2

    @property
    def is_uniform(self) -> bool:
        """Whether every pair of ranks talks, and all alike: no rank differs from another."""
        return self.is_all_to_all() and (
            isinstance(self.edges, AllPairs) or len({weight for _, _, weight in self.edges}) <= 1
        )

    def components(self) -> tuple[tuple[int, ...], ...]:
        """The groups of ranks that talk to each other directly or through others, largest first."""
        if self.edges and self.is_all_to_all():
            return (tuple(range(self.ranks)),)
        group = list(range(self.ranks))

        def root(rank: int) -> int:
            while group[rank] != rank:
                group[rank] = group[group[rank]]
                rank = group[rank]
            return rank

        for a, b, _ in self.edges:
            group[root(a)] = root(b)
        members: dict[int, list[int]] = {}
        for rank in range(self.ranks):
            members.setdefault(root(rank), []).append(rank)
        return tuple(sorted((tuple(m) for m in members.values()), key=lambda m: (-len(m), m)))


_SIMPLE: dict[str, Callable[[int], Pairs]] = {
    "ring": shapes.ring,
    "line": shapes.line,
    "all-to-all": shapes.all_to_all,
    "star": shapes.star,
    "pairs": shapes.pairs,
    "binary-tree": shapes.binary_tree,
    "binomial-tree": shapes.binomial_tree,
    "hypercube": shapes.hypercube,
    "cg": nas.cg,
    "is": shapes.all_to_all,
    "mg": nas.mg,
    "lu": nas.lu,
    "bt": lambda ranks: nas.multipartition(ranks, "bt"),
    "sp": lambda ranks: nas.multipartition(ranks, "sp"),
    "ft": shapes.all_to_all,
    "ep": lambda ranks: (),
}
_GRIDS = {"mesh-2d": (2, False), "torus-2d": (2, True), "mesh-3d": (3, False), "torus-3d": (3, True)}
_LINES = "rows-columns"
NAMES: tuple[str, ...] = (
    *("ring", "line", "all-to-all", "star", "pairs"),
    *("mesh-2d", "torus-2d", "mesh-3d", "torus-3d"),
    *("binary-tree", "binomial-tree", "hypercube", "butterfly", "rows-columns"),
    *("cg", "is", "mg", "lu", "bt", "sp", "ft", "ep"),
)
#: The end of an InputError for a name.
ACCEPTED = "one of " + ", ".join(NAMES) + ", or with sizes, as mesh-2d:4x4"


def named(name: str, ranks: int) -> Pattern:
    """The pattern called `name` on `ranks` ranks; meshes, tori and rows-columns take sizes, as `mesh-2d:4x4`.

    Without sizes a mesh is as square as the number of ranks allows. Raises InputError for an unknown name or a
    number of ranks that the pattern cannot have.

    >>> named("mesh-2d:2x3", 6).edges[:3]
    ((0, 1, 1.0), (0, 3, 1.0), (1, 2, 1.0))
    """
    check_ranks(ranks)
    base, colon, sizes = name.strip().lower().partition(":")
    if base in _GRIDS:
        axes, wrap = _GRIDS[base]
        dims = _sizes(name, sizes, axes, ranks) if colon else shapes.most_square(ranks, axes)
        return _uniform(f"{base}:{'x'.join(map(str, dims))}", ranks, shapes.grid(dims, wrap=wrap))
    if base == _LINES:
        dims = _sizes(name, sizes, 2, ranks) if colon else shapes.most_square(ranks, 2)
        return _uniform(f"{base}:{'x'.join(map(str, dims))}", ranks, shapes.rows_and_columns(*dims))
    if colon or base not in NAMES:
        raise InputError("pattern", name, ACCEPTED)
    if _SIMPLE.get(base) is shapes.all_to_all:
        return Pattern(base, ranks, AllPairs(ranks))
    if base == "butterfly":
        return _butterfly(ranks)
    return _uniform(base, ranks, _SIMPLE[base](ranks))


def parse(document: Any, *, name: str = "pattern") -> Pattern:
    """Turn a node-link document over ranks 0..m-1 into a Pattern, checking every entry. Raises InputError.

    A pair given more than once (both directions) counts once with the weights summed; weight defaults to 1.

    >>> parse({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "weight": 8}]}).edges
    ((0, 1, 8.0),)
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("nodes"), list):
        raise InputError("pattern", document, "an object with the lists nodes and links")
    links = document.get("links", document.get("edges"))
    if not isinstance(links, list):
        raise InputError("pattern.links", links, "a list of links between ranks")
    ranks = len(document["nodes"])
    check_ranks(ranks)
    found = [_rank(raw.get("id") if isinstance(raw, Mapping) else raw, "nodes", ranks) for raw in document["nodes"]]
    if sorted(found) != list(range(ranks)):
        raise InputError("pattern.nodes", found, f"each rank from 0 to {ranks - 1} once")
    weights: dict[tuple[int, int], float] = {}
    for index, raw in enumerate(links):
        a, b, weight = _edge(raw, index, ranks)
        pair = (min(a, b), max(a, b))
        weights[pair] = weights.get(pair, 0.0) + weight
    graph = document.get("graph")
    title = graph.get("name", name) if isinstance(graph, Mapping) else name
    return Pattern(str(title), ranks, tuple((a, b, w) for (a, b), w in sorted(weights.items())))


def check_ranks(ranks: int) -> None:
    """Raise InputError unless `ranks` is a number of ranks that a pattern can have."""
    if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MAX_RANKS:
        raise InputError("nodes", ranks, f"a whole number from 1 to {MAX_RANKS}")


def _uniform(name: str, ranks: int, pairs: Pairs) -> Pattern:
    return Pattern(name, ranks, tuple((a, b, 1.0) for a, b in pairs))


def _butterfly(ranks: int) -> Pattern:
    """Recursive doubling: the edges of a hypercube, and a message that doubles with the distance."""
    pairs = shapes.hypercube(ranks, "butterfly")
    return Pattern("butterfly", ranks, tuple((a, b, float(a ^ b)) for a, b in pairs))


def _sizes(name: str, sizes: str, axes: int, ranks: int) -> tuple[int, ...]:
    parts = sizes.split("x")
    shape = "x".join("RCL"[:axes]) if axes == 2 else "XxYxZ"
    if len(parts) != axes or not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise InputError("pattern", name, f"{name.partition(':')[0]}:{shape} with whole numbers above 0")
    dims = tuple(int(part) for part in parts)
    if math.prod(dims) != ranks:
        raise InputError("nodes", ranks, f"{math.prod(dims)}, the number of ranks of the pattern {name}")
    return dims


def _rank(value: Any, where: str, ranks: int) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < ranks:
        raise InputError(f"pattern.{where}", value, f"a rank from 0 to {ranks - 1}")
    return value


def _edge(raw: Any, index: int, ranks: int) -> tuple[int, int, float]:
    where = f"links[{index}]"
    if not isinstance(raw, Mapping):
        raise InputError(f"pattern.{where}", raw, "an object with source and target")
    a = _rank(raw.get("source"), f"{where}.source", ranks)
    b = _rank(raw.get("target"), f"{where}.target", ranks)
    weight = raw.get("weight", 1.0)
    if a == b:
        raise InputError(f"pattern.{where}.target", b, "a rank other than the source")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= MAX_WEIGHT:
        raise InputError(f"pattern.{where}.weight", weight, f"a number of bytes above 0 and up to {MAX_WEIGHT:.0e}")
    return a, b, float(weight)
