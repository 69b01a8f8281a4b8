"""Rounds of measurements: every pair once, and nothing shared within a round."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from gridportal.testbed.rounds import apart, tournament


def names(count: int) -> list[str]:
    return [f"n{i}" for i in range(count)]


def pairs(count: int) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in combinations(names(count), 2)]


@given(st.integers(0, 24))
def test_a_tournament_measures_every_pair_exactly_once(count: int) -> None:
    played = [frozenset(pair) for group in tournament(names(count)) for pair in group]
    assert sorted(map(sorted, played)) == sorted(map(sorted, pairs(count)))


@given(st.integers(2, 24))
def test_no_two_pairs_of_a_round_share_a_node(count: int) -> None:
    for group in tournament(names(count)):
        nodes = [name for pair in group for name in pair]
        assert len(nodes) == len(set(nodes))


@given(st.integers(2, 24))
def test_a_tournament_has_the_fewest_rounds(count: int) -> None:
    assert len(tournament(names(count))) == (count - 1 if count % 2 == 0 else count)


@given(st.integers(2, 9), st.data())
def test_pairs_that_share_a_link_are_never_in_one_round(count: int, data: st.DataObject) -> None:
    links = {
        frozenset(pair): data.draw(st.sets(st.integers(0, 4), max_size=3)) for pair in combinations(names(count), 2)
    }
    groups = apart(names(count), lambda a, b: links[frozenset((a, b))])
    assert sorted(sorted(pair) for group in groups for pair in group) == sorted(map(sorted, pairs(count)))
    for group in groups:
        for one, other in combinations(group, 2):
            assert not set(one) & set(other)
            assert not links[frozenset(one)] & links[frozenset(other)]
