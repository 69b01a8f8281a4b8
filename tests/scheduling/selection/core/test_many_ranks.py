"""Thousands of ranks on nodes with many slots: what is looked at, counted, and the same answers as one by one."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.jobs.core.all_pairs import AllPairs
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.selection.core.explanations.slowest_rank_pairs import slowest_rank_pairs
from scheduling.selection.core.placement import Request
from scheduling.selection.core.selection import select
from scheduling.selection.core.slots import rank_blocks as blocks
from scheduling.selection.core.slots.slot_scores import PairScores
from tests.bench.fabrics import fat_tree

UNLIKE = 1.0 + 1e-12  # a weight that nobody can tell from 1, so that all pairs are looked at


def unlike(ranks: int) -> Pattern:
    """All pairs, which have not quite the same weight."""
    pairs = combinations(range(ranks), 2)
    return Pattern("some", ranks, tuple((a, b, UNLIKE if a else 1.0) for a, b in pairs))


@given(st.integers(0, 12))
def test_all_pairs_are_those_that_are_listed(ranks: int) -> None:
    listed = [(a, b, 1.0) for a, b in combinations(range(ranks), 2)]
    pairs = AllPairs(ranks)
    assert list(pairs) == [pairs[place] for place in range(len(pairs))] == listed
    assert pairs[-3:] == tuple(listed[-3:])
    assert Pattern("p", ranks, tuple(listed)).edges == named("all-to-all", ranks).edges if ranks > 1 else not listed
    with pytest.raises(IndexError):
        pairs[len(listed)]


@st.composite
def placed(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """The node of each rank, and symmetric rates of nodes of which some are equal."""
    nodes = draw(st.integers(1, 5))
    at = draw(st.lists(st.integers(0, nodes - 1), min_size=2, max_size=9))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    rates = np.triu(rng.integers(0, 4, (nodes, nodes)).astype(float), 1)
    return np.array(at), rates + rates.T


@given(placed(), st.integers(1, 40))
@settings(deadline=None)
def test_the_slowest_of_all_pairs_are_those_of_a_list_of_all(case: tuple[np.ndarray, np.ndarray], most: int) -> None:
    at, rates = case
    found = slowest_rank_pairs(named("all-to-all", len(at)), at, rates, most)
    every = [(rates[at[a], at[b]], a, b) for a, b in combinations(range(len(at)), 2) if at[a] != at[b]]
    expected = sorted(every)[:most]
    assert list(zip(found.rate.tolist(), found.low.tolist(), found.high.tolist(), strict=True)) == expected
    assert set(found.weight.tolist()) <= {1.0}


@given(placed())
@settings(deadline=None)
def test_scores_by_the_ranks_of_each_node_are_those_by_all_pairs(case: tuple[np.ndarray, np.ndarray]) -> None:
    at, rates = case
    aim = rates + np.diag(np.arange(1.0, len(rates) + 1))
    seconds = np.divide(1.0, rates, out=np.full(rates.shape, np.inf), where=rates > 0)
    np.fill_diagonal(seconds, 0.0)
    options = np.array([at, at[::-1]])
    by_counts, one_by_one = (
        PairScores(pattern, [aim], seconds).of(options) for pattern in (named("all-to-all", len(at)), unlike(len(at)))
    )
    for few, many in zip(by_counts, one_by_one, strict=True):
        assert few == pytest.approx(many, rel=1e-6, abs=1e-6)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ranks come up while blocks are made."""
    count = [0]
    heappop = blocks.heappop

    def counted(heap: list[Any]) -> Any:
        count[0] += 1
        return heappop(heap)

    monkeypatch.setattr(blocks, "heappop", counted)
    return count


@pytest.mark.parametrize("shape", ["ring", "mesh-2d", "hypercube"])
def test_growing_a_block_looks_at_each_pair_that_talks_once(shape: str, looked_at: list[int]) -> None:
    pattern = named(shape, 4096)
    grown = blocks._grown(list(range(4096)), 2048, blocks.weights_beside(pattern))
    assert len(set(grown)) == 2048
    assert looked_at[0] <= 2 * len(pattern.edges)


def test_blocks_of_thousands_of_ranks_take_little_more_work_for_each(looked_at: list[int]) -> None:
    work = []
    for ranks in (1024, 4096):
        looked_at[0] = 0
        blocks.rank_blocks(named("mesh-2d", ranks), [64] * (ranks // 64))
        work.append(looked_at[0] / ranks)
    assert work[1] <= 2 * work[0]


def test_blocks_of_a_mesh_and_a_torus_cut_as_little_as_can_be() -> None:
    for shape, least in (("mesh-2d", 96), ("torus-2d", 128)):
        pattern = named(shape, 256)
        assert blocks.cut_weight(pattern, blocks.rank_blocks(pattern, [16] * 16)) == least


@pytest.mark.parametrize(("method", "ranks"), [("communication", 2048), ("balanced", 2048), ("compute", 4096)])
def test_nobody_goes_over_all_pairs_of_thousands_of_ranks(
    method: Any, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_pairs: AllPairs) -> Iterator[tuple[int, int, float]]:
        raise AssertionError("millions of pairs")

    monkeypatch.setattr(AllPairs, "__iter__", refuse)
    topology = fat_tree(1200)
    slots = {node.id: 128 for node in topology.compute_nodes()}
    request = Request(None, method, ranks=ranks, slots=slots, time_budget=30.0, candidates=2)
    found = select(topology, request, rng=random.Random(0), clock=time.monotonic)
    assert len(set(found.nodes)) == ranks // 128
    assert found.optimal
    assert found.bottleneck is not None
