"""The parts of the exact search, each against something simpler."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.core.cliques import CliqueSearch
from scheduling.core.embedding import Embedding, bits, members
from scheduling.core.local_search import LocalSearch
from scheduling.core.mending import mend
from scheduling.core.packing import pack
from scheduling.core.patterns import named
from scheduling.core.symmetry import rank_order
from scheduling.core.threshold import OutOfTime

FEW = settings(max_examples=100, deadline=None)


@st.composite
def graphs(draw, most=8):
    n = draw(st.integers(1, most))
    joined = np.zeros((n, n), dtype=bool)
    for a, b in combinations(range(n), 2):
        joined[a, b] = joined[b, a] = draw(st.booleans())
    return joined


def never() -> None:
    return None


@FEW
@given(graphs(), st.integers(2, 5))
def test_a_clique_is_found_exactly_when_there_is_one(joined, m):
    cliques = [c for c in combinations(range(len(joined)), m) if all(joined[a, b] for a, b in combinations(c, 2))]
    found = CliqueSearch(m, never).find(joined)
    assert (found is None) == (not cliques)
    assert found is None or found in cliques


@FEW
@given(graphs(), st.integers(2, 4))
def test_passing_over_cliques_lists_every_one_of_them(joined, m):
    cliques = {
        frozenset(c) for c in combinations(range(len(joined)), m) if all(joined[a, b] for a, b in combinations(c, 2))
    }
    seen: list[frozenset[int]] = []
    while (found := CliqueSearch(m, never).find(joined, seen)) is not None:
        assert frozenset(found) not in seen
        seen.append(frozenset(found))
    assert set(seen) == cliques


@FEW
@given(graphs(7), st.sampled_from(["ring", "line", "star", "mesh-2d", "pairs", "binary-tree"]), st.sampled_from([4, 6]))
def test_passing_over_sets_lists_every_set_that_holds_the_pattern(joined, name, m):
    edges = [(a, b) for a, b, _ in named(name, m).edges]
    holds = {
        frozenset(order)
        for order in permutations(range(len(joined)), m)
        if all(joined[order[a], order[b]] for a, b in edges)
    }
    seen: list[frozenset[int]] = []
    search = Embedding(m, edges, never)
    while (found := search.find(joined, seen)) is not None and frozenset(found) not in seen:
        assert all(joined[found[a], found[b]] for a, b in edges)
        seen.append(frozenset(found))
    assert set(seen) == holds


@FEW
@given(st.integers(2, 6), st.data())
def test_the_rank_order_keeps_exactly_one_of_each_set_of_equivalent_placements(ranks, data):
    pairs = list(combinations(range(ranks), 2))
    edges = tuple(sorted(data.draw(st.sets(st.sampled_from(pairs), min_size=1))))
    order = rank_order(ranks, edges)
    symmetries = [
        p for p in permutations(range(ranks)) if {tuple(sorted((p[a], p[b]))) for a, b in edges} == set(edges)
    ]
    kept = [p for p in permutations(range(ranks)) if all(p[r] < p[s] for r, others in order for s in others)]
    assert len(kept) * len(symmetries) == len(list(permutations(range(ranks))))
    assert all(
        any(tuple(p[s[r]] for r in range(ranks)) in kept for s in symmetries) for p in permutations(range(ranks))
    )


@FEW
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.lists(st.integers(0, 7), min_size=1, max_size=4))
def test_packing_succeeds_exactly_when_some_assignment_fits(items, bins):
    items = sorted(items, reverse=True)

    def fits(chosen):
        return all(sum(i for i, c in zip(items, chosen, strict=True) if c == b) <= size for b, size in enumerate(bins))

    possible = any(fits(chosen) for chosen in product(range(len(bins)), repeat=len(items)))
    chosen = pack(items, bins)
    assert (chosen is not None) == possible
    assert chosen is None or fits(chosen)


@given(st.integers(0, 2**70))
def test_members_are_the_set_bits(mask):
    assert sum(1 << v for v in members(mask)) == mask


@given(graphs())
def test_bits_are_the_rows(joined):
    assert [members(row) for row in bits(joined)] == [np.flatnonzero(row).tolist() for row in joined]


@FEW
@given(st.integers(0, 99), st.sampled_from(["ring", "hypercube", "star"]))
def test_mending_never_lowers_the_lowest_rate(seed, name):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(1, 100, (10, 10))
    rates = np.minimum(rates, rates.T)
    np.fill_diagonal(rates, -np.inf)
    left = iter(range(300))

    def tick() -> None:
        if next(left, None) is None:
            raise OutOfTime

    local = LocalSearch(rates, 8, named(name, 8).edges, tick)
    mended = mend(local, tuple(range(8)), rng=random.Random(seed))
    assert len(set(mended)) == 8
    assert local.lowest(mended) >= local.lowest(tuple(range(8)))
