"""Patterns: who talks to whom, and what is said about patterns that cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import patterns
from scheduling.jobs.core.patterns import NAMES, Pattern, named, parse


def pairs(name: str, ranks: int) -> set[tuple[int, int]]:
    return {(a, b) for a, b, _ in named(name, ranks).edges}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_a_pattern_on_four_and_sixteen_ranks_with_each_pair_once(name):
    for ranks in (4, 16):
        pattern = named(name, ranks)
        listed = [(a, b) for a, b, _ in pattern.edges]
        assert len(set(listed)) == len(listed)
        assert all(0 <= a < b < ranks for a, b in listed)
        assert all(weight > 0 for _, _, weight in pattern.edges)


@pytest.mark.parametrize(
    ("name", "ranks", "edges"),
    [
        ("ring", 16, 16),
        ("ring", 2, 1),
        ("line", 5, 4),
        ("all-to-all", 8, 28),
        ("star", 6, 5),
        ("pairs", 6, 3),
        ("mesh-2d:4x4", 16, 24),
        ("torus-2d:4x4", 16, 32),
        ("torus-2d:2x4", 8, 12),
        ("mesh-3d:2x2x2", 8, 12),
        ("torus-3d:3x3x3", 27, 81),
        ("hypercube", 16, 32),
        ("butterfly", 16, 32),
        ("rows-columns:2x3", 6, 9),
        ("rows-columns", 16, 48),
        ("rows-columns", 7, 21),
        ("binary-tree", 7, 6),
        ("binomial-tree", 8, 7),
        ("ep", 8, 0),
        ("ft", 8, 28),
        ("is", 8, 28),
    ],
)
def test_a_pattern_has_as_many_pairs_as_its_shape(name, ranks, edges):
    assert len(named(name, ranks).edges) == edges


def test_only_three_pairs_communicate_in_cg_on_four_ranks_as_figure_2_shows():
    assert pairs("cg", 4) == {(0, 1), (1, 2), (2, 3)}


def test_cg_on_eight_ranks_sums_along_rows_of_four_and_exchanges_with_the_transpose():
    assert pairs("cg", 8) == {(0, 1), (0, 2), (1, 3), (2, 3), (4, 5), (4, 6), (5, 7), (6, 7), (2, 4), (3, 5)}


def test_bt_on_four_ranks_is_all_to_all_and_on_nine_every_rank_has_six_partners():
    assert pairs("bt", 4) == pairs("all-to-all", 4)
    degree = [sum(r in edge for edge in pairs("sp", 9)) for r in range(9)]
    assert degree == [6] * 9


def test_mg_on_four_ranks_is_a_ring_and_lu_a_mesh():
    assert pairs("mg", 4) == {(0, 1), (0, 2), (1, 3), (2, 3)}
    assert pairs("lu", 8) == pairs("mesh-2d:2x4", 8)


def test_a_mesh_without_sizes_is_as_square_as_can_be():
    assert named("mesh-2d", 12).name == "mesh-2d:3x4"
    assert named("torus-3d", 8).name == "torus-3d:2x2x2"


@pytest.mark.parametrize(
    ("name", "ranks", "words"),
    [
        ("hypercube", 6, "power of two"),
        ("cg", 6, "power of two"),
        ("mg", 12, "power of two"),
        ("bt", 8, "square number"),
        ("pairs", 5, "even"),
        ("mesh-2d:4x4", 8, "16"),
        ("mesh-2d:4", 4, "mesh-2d:RxC"),
        ("mesh-3d:0x2x2", 4, "above 0"),
        ("mesh-2d:", 4, "mesh-2d:RxC"),
        ("ring:4", 4, "one of ring"),
        ("rink", 4, "one of ring"),
        ("ring", 0, "whole number"),
        ("all-to-all", 5000, "whole number"),
    ],
)
def test_an_impossible_pattern_is_refused_in_one_sentence(name, ranks, words):
    with pytest.raises(InputError, match=words) as caught:
        named(name, ranks)
    assert "\n" not in str(caught.value)


def test_a_pattern_file_gives_ranks_and_weights_and_adds_up_both_directions():
    links = [{"source": 0, "target": 1, "weight": 8}, {"source": "1", "target": "0", "weight": 2}]
    read = parse({"nodes": [{"id": 0}, {"id": "1"}, {"id": 2}], "links": [*links, {"source": 2, "target": 1}]})
    assert read == Pattern("pattern", 3, ((0, 1, 10.0), (1, 2, 1.0)))


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "pattern"),
        ({"nodes": []}, "links"),
        ({"nodes": [], "links": []}, "nodes"),
        ({"nodes": [{"id": 1}], "links": []}, "nodes"),
        ({"nodes": [{"id": 0}, {"id": 0}], "links": []}, "nodes"),
        ({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 0}]}, r"links\[0\].target"),
        ({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 2}]}, r"links\[0\].target"),
        ({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "weight": 0}]}, "weight"),
        ({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "weight": "x"}]}, "weight"),
        ({"nodes": [{"id": 0}, {"id": 1}], "links": ["x"]}, r"links\[0\]"),
    ],
)
def test_a_wrong_pattern_file_names_the_entry(document, field):
    with pytest.raises(InputError, match=field):
        parse(document)


def test_a_pattern_describes_itself():
    assert named("ring", 4).describe() == "ring of 4 ranks, 4 pairs talk"
    assert named("ep", 2).describe() == "ep of 2 ranks, no pair talks"
    assert named("line", 2).describe() == "line of 2 ranks, 1 pair talks"


@given(st.integers(1, 64))
def test_trees_join_all_ranks_and_pairs_none_but_two(ranks):
    for name in ("binary-tree", "binomial-tree", "star", "line", "ring"):
        assert len(named(name, ranks).components()) == 1
    if ranks % 2 == 0:
        assert [len(c) for c in named("pairs", ranks).components()] == [2] * (ranks // 2)


def test_the_names_are_those_of_the_command_line():
    assert {"ring", "mesh-2d", "torus-3d", "cg", "ep", "butterfly"} <= set(patterns.NAMES)


TWO = [{"id": 0}, {"id": 1}]


@pytest.mark.parametrize("weight", [10**400, 1e308, float("inf"), float("nan"), 0, -1, True, "8"])
def test_a_weight_that_no_sum_can_bear_is_refused(weight):
    with pytest.raises(InputError, match=r"pattern\.links\[0\]\.weight is "):
        parse({"nodes": TWO, "links": [{"source": 0, "target": 1, "weight": weight}]})


def test_the_largest_weights_add_up_to_a_number():
    links = [{"source": a, "target": b, "weight": patterns.MAX_WEIGHT} for a, b in ((0, 1), (1, 0))]
    assert parse({"nodes": TWO, "links": links}).edges == ((0, 1, 2 * patterns.MAX_WEIGHT),)


@pytest.mark.parametrize(("document", "said"), [([1, 2], "pattern is 1, 2;"), ({}, "pattern is empty;")])
def test_what_is_no_graph_is_shown_itself(document, said):
    with pytest.raises(InputError, match=said):
        parse(document)


def test_a_name_is_not_taken_for_a_file():
    with pytest.raises(InputError) as caught:
        named("nonsense", 4)
    assert "file" not in str(caught.value)
