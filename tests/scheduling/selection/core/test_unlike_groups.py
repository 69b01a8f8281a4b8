"""Groups that are listed beside the chosen one differ from it in as many nodes as was asked."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Topology
from scheduling.jobs.core.patterns import named
from scheduling.selection.core.placement import Request, Selection
from scheduling.selection.core.selection import select
from scheduling.selection.core.unlike_groups import differ
from tests.bench.fabrics import fat_tree
from tests.examples import examples
from tests.gridportal.network.networks import random_network


def chosen(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(0), clock=itertools.count(step=0.01).__next__)


@given(
    st.integers(0, 9_999),
    st.integers(0, 2),
    st.sampled_from(["links", "pairs"]),
    st.sampled_from(["compute", "communication", "balanced", "pattern"]),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=examples(16, fuzz=80), deadline=None)
def test_all_groups_differ_in_so_many_nodes_and_the_first_is_the_best(
    seed: int, cycles: int, kind: str, method: Any, flows: bool, least: int
) -> None:
    topology = random_network(seed, cycles=cycles, kind=kind)
    m = min(3, len(topology.compute_nodes()))
    pattern = named("ring", m) if method == "pattern" else None
    flows = flows and method != "compute"
    request = Request(m, method, pattern, candidates=3, differ=least, flows=flows)
    try:
        best = chosen(topology, Request(m, method, pattern, candidates=1, flows=flows))
    except ImpossibleError:
        return
    found = chosen(topology, request).candidates
    assert found[0].score == pytest.approx(best.candidates[0].score)
    for one, other in itertools.combinations(found, 2):
        assert len(set(one.nodes) - set(other.nodes)) >= min(least, m)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("flows", [False, True])
def test_groups_of_a_large_network_differ_and_are_nearly_as_good(flows: bool) -> None:
    net = fat_tree(256, each=16)
    request = Request(32, "pattern", named("ring", 32), candidates=3, differ=8, flows=flows)
    found = chosen(net, request).candidates
    assert len(found) == 3
    for one, other in itertools.combinations(found, 2):
        assert len(set(one.nodes) - set(other.nodes)) >= 8
    assert found[2].score >= 0.8 * found[0].score


def test_groups_that_are_drawn_differ_by_chance_alone() -> None:
    with pytest.raises(InputError, match="differ is 2; accepted is 1 with the method random"):
        chosen(fat_tree(8), Request(2, "random", differ=2))


def test_two_groups_differ_by_what_one_has_that_the_other_has_not() -> None:
    assert (differ((1, 2, 3), (3, 4, 1)), differ((1, 1, 2), (1, 2, 2)), differ((1, 2), (1, 1))) == (1, 0, 1)
