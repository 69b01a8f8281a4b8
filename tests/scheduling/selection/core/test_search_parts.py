"""The parts of the exact search, each against something simpler."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import combinations, permutations, product

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.jobs.core.patterns import NAMES, named
from scheduling.selection.core.pairs.bit_rows import bit_rows
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.embedding import Embedding
from scheduling.selection.core.pairs.local_search import LocalSearch
from scheduling.selection.core.pairs.pair_groups import best_on_pairs
from scheduling.selection.core.pairs.rate_sums import RateSums
from scheduling.selection.core.pairs.repair import repair
from scheduling.selection.core.pairs.symmetry import rank_order
from scheduling.selection.core.threshold import OutOfTime
from scheduling.selection.core.trees.packing import pack
from tests.examples import examples

FEW = settings(max_examples=examples(20, fuzz=100), deadline=None)


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


FOUR = [name for name in NAMES if named(name, 4).edges]
SIX = ["ring", "line", "star", "mesh-2d", "pairs", "binary-tree"]
ALL_OF_SEVEN = ~np.eye(7, dtype=bool)


def missing(*pairs):
    """All seven joined but these."""
    joined = ALL_OF_SEVEN.copy()
    for a, b in pairs:
        joined[a, b] = joined[b, a] = False
    return joined


def another(search, joined, seen):
    """A placement on a set that was not seen: where `find` gives up passing over one, it is asked again without each of
    its vertices, as ThresholdSearch does."""
    found = search.find(joined, seen)
    if found is None or frozenset(found) not in seen:
        return found
    for gone in found:
        fewer = joined.copy()
        fewer[gone, :] = fewer[:, gone] = False
        found = another(search, fewer, [nodes for nodes in seen if gone not in nodes])
        if found is not None:
            return found
    return None


@FEW
@given(graphs(7), st.sampled_from(SIX), st.sampled_from([4, 6]))
@example(ALL_OF_SEVEN, "line", 6)  # 360 placements on each set, more than are passed over
@example(ALL_OF_SEVEN, "binary-tree", 6)
@example(missing((0, 2), (5, 6)), "line", 6)
@example(missing((0, 3), (1, 6), (4, 6)), "line", 6)
def test_passing_over_sets_lists_every_set_that_holds_the_pattern(joined, name, m):
    edges = [(a, b) for a, b, _ in named(name, m).edges]
    holds = {
        frozenset(order)
        for order in permutations(range(len(joined)), m)
        if all(joined[order[a], order[b]] for a, b in edges)
    }
    seen: list[frozenset[int]] = []
    search = Embedding(m, edges, never)
    while (found := another(search, joined, seen)) is not None:
        assert all(joined[found[a], found[b]] for a, b in edges)
        assert frozenset(found) not in seen
        seen.append(frozenset(found))
    assert set(seen) == holds


@settings(max_examples=examples(8, fuzz=15))
@given(st.lists(st.sampled_from([1.0, 2.0]), min_size=21, max_size=21), st.sampled_from(SIX))
@example([1.0] * 21, "line")
@example([1.0] * 21, "binary-tree")
def test_the_best_sets_are_all_found_where_one_holds_more_placements_than_are_passed_over(drawn, name):
    """The promise of `Embedding.find` ends at PASSED placements; that of the candidates does not."""
    rates = np.full((7, 7), -np.inf)
    rates[np.triu_indices(7, 1)] = drawn
    rates = np.maximum(rates, rates.T)
    pattern = named(name, 6)
    worth: dict[frozenset[int], float] = {}
    for order in permutations(range(7), 6):
        value = min(rates[order[a], order[b]] for a, b, _ in pattern.edges)
        worth[frozenset(order)] = max(value, worth.get(frozenset(order), 0.0))
    found = best_on_pairs(rates, pattern, 9, rng=random.Random(0), clock=lambda: 0.0, deadline=1.0)
    assert [one.value for one in found] == sorted(worth.values(), reverse=True)
    assert len({frozenset(one.group) for one in found}) == len(found)
    assert all(one.proved and worth[frozenset(one.group)] == one.value for one in found)


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


@st.composite
def placements_with_domains(draw):
    """Rates of seven nodes in two values, a pattern of 2 to 5 ranks, and where each rank may stand."""
    name, m = draw(st.sampled_from([*((name, 4) for name in FOUR), ("ring", 5), ("binary-tree", 3), ("all-to-all", 5)]))
    rates = np.full((7, 7), -np.inf)
    rates[np.triu_indices(7, 1)] = draw(st.lists(st.sampled_from([-np.inf, 1.0, 2.0]), min_size=21, max_size=21))
    kinds = draw(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=3))
    domains = np.array([draw(st.sampled_from(kinds)) for _ in range(m)])
    return np.maximum(rates, rates.T), named(name, m), domains


@FEW
@given(placements_with_domains(), st.integers(1, 4))
def test_ranks_stand_only_where_they_may_and_the_best_sets_are_found(case, k):
    rates, pattern, domains = case
    worth: dict[frozenset[int], float] = {}
    for order in permutations(range(7), pattern.ranks):
        value = min(rates[order[a], order[b]] for a, b, _ in pattern.edges)
        if value > -np.inf and all(domains[rank, node] for rank, node in enumerate(order)):
            worth[frozenset(order)] = max(value, worth.get(frozenset(order), 0.0))
    found = best_on_pairs(rates, pattern, k, rng=random.Random(0), clock=lambda: 0.0, deadline=1.0, domains=domains)
    assert [one.value for one in found] == sorted(worth.values(), reverse=True)[:k]
    assert len({frozenset(one.group) for one in found}) == len(found)
    for one in found:
        assert one.proved
        assert all(domains[rank, node] for rank, node in enumerate(one.group))
        assert one.value == min(rates[one.group[a], one.group[b]] for a, b, _ in pattern.edges)


@FEW
@given(st.integers(2, 6), st.data())
def test_only_ranks_of_one_kind_change_places(ranks, data):
    pairs = list(combinations(range(ranks), 2))
    edges = tuple(sorted(data.draw(st.sets(st.sampled_from(pairs), min_size=1))))
    kinds = tuple(data.draw(st.lists(st.integers(0, 2), min_size=ranks, max_size=ranks)))
    symmetries = [
        p
        for p in permutations(range(ranks))
        if {tuple(sorted((p[a], p[b]))) for a, b in edges} == set(edges) and all(kinds[r] == kinds[p[r]] for r in p)
    ]
    order = rank_order(ranks, edges, kinds)
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


@given(graphs())
def test_rows_of_bits_are_the_rows(joined):
    for row, words in zip(joined, bit_rows(joined).tolist(), strict=True):
        assert sum(int(word) << 64 * at for at, word in enumerate(words)) == sum(
            1 << int(v) for v in np.flatnonzero(row)
        )


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
    mended = repair(local, tuple(range(8)), rng=random.Random(seed))
    assert len(set(mended)) == 8
    assert local.lowest(mended) >= local.lowest(tuple(range(8)))


def noisy(nodes, seed):
    rates = np.random.default_rng(seed).lognormal(0, 0.3, (nodes, nodes))
    rates = np.minimum(rates, rates.T)
    np.fill_diagonal(rates, -np.inf)
    return rates


def test_the_best_that_was_found_in_time_is_said_not_to_be_proved():
    rates, pattern = noisy(250, 4), named("hypercube", 16)
    seconds = iter(range(1000))
    found = best_on_pairs(rates, pattern, 3, rng=random.Random(0), clock=lambda: float(next(seconds)), deadline=30.0)
    assert found
    assert not any(one.proved for one in found)
    assert next(seconds) < 40
    assert all(one.value == min(rates[one.group[a], one.group[b]] for a, b, _ in pattern.edges) for one in found)


@FEW
@given(st.integers(0, 30), st.sampled_from(["ring", "mesh-2d", "hypercube", "all-to-all"]))
def test_the_same_question_has_the_same_answer(seed, name):
    rates, pattern = noisy(24, seed), named(name, 8)
    answers = [
        best_on_pairs(rates.copy(), pattern, 3, rng=random.Random(7), clock=lambda: 0.0, deadline=1.0) for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert all(one.proved for one in answers[0])


def test_the_loops_find_the_same_where_there_is_no_numba():
    """A Python that numba does not know yet runs them as they stand."""
    script = """
import sys
import numpy as np
if sys.argv[1] == "plain":
    sys.modules["numba"] = None
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.embedding import Embedding
joined = np.triu(np.random.default_rng(3).random((90, 90)) < 0.2, 1)
joined |= joined.T
grid = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)]
print(Embedding(9, grid, lambda: None).find(joined), [CliqueSearch(m, lambda: None).find(joined) for m in (4, 7)])
"""
    answers = {
        kind: subprocess.run(
            [sys.executable, "-W", "error", "-c", script, kind], capture_output=True, text=True, timeout=120, check=True
        ).stdout
        for kind in ("plain", "compiled")
    }
    assert answers["plain"] == answers["compiled"]
    assert not answers["plain"].startswith("None")
    assert answers["plain"].rstrip().endswith("None]")


@FEW
@given(st.integers(0, 99), st.sampled_from(["ring", "hypercube", "star"]), st.booleans())
def test_raising_the_sum_keeps_the_lowest_rate_and_ends_where_no_exchange_helps(seed, name, narrow):
    rng = np.random.default_rng(seed)
    rates, pattern = noisy(12, seed), named(name, 8)
    domains = rng.random((8, 12)) < 0.7 if narrow else np.ones((8, 12), dtype=bool)
    group = tuple(range(8))
    domains[range(8), group] = True
    level = min(rates[a, b] for a, b, _ in pattern.edges)

    def total(order):
        return sum(weight * rates[order[a], order[b]] for a, b, weight in pattern.edges)

    def fits(order):
        lowest = min(rates[order[a], order[b]] for a, b, _ in pattern.edges)
        return lowest >= level and all(domains[rank, node] for rank, node in enumerate(order))

    raised = RateSums(rates, pattern, domains, never).raised(group, level)
    assert len(set(raised)) == 8
    assert fits(raised)
    assert total(raised) >= total(group) - 1e-9
    moves = [(*raised[:r], node, *raised[r + 1 :]) for r in range(8) for node in set(range(12)) - set(raised)]
    swaps = [
        tuple({r: raised[s], s: raised[r]}.get(x, raised[x]) for x in range(8)) for r, s in combinations(range(8), 2)
    ]
    assert all(total(order) <= total(raised) + 1e-6 for order in [*moves, *swaps] if fits(order))


def test_ranks_that_may_stand_on_some_nodes_need_no_loop_of_their_own():
    """numpy lays out chosen columns one after the other, and for that the loop would be compiled once more."""
    columns = np.ones((3, 5), dtype=bool)[:, [4, 0, 2]]
    assert not columns.flags.c_contiguous
    assert RateSums(np.ones((3, 3)), named("line", 3), columns, never).domains.flags.c_contiguous
