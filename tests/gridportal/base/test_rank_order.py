"""Rank orders as Hydra makes them from a list of hosts, against its rule played back."""

from __future__ import annotations

from itertools import groupby, product

import pytest

from gridportal.base.rank_order import hydra_hosts, is_even, ranks_before


@pytest.mark.parametrize("ranks", range(1, 8))
def test_hydra_makes_every_order_from_its_list(ranks: int) -> None:
    for nodes in product("abc", repeat=ranks):
        hosts = hydra_hosts(nodes)
        assert [hosts[rank % len(hosts)] for rank in range(ranks)] == list(nodes)
        if len(hosts) < ranks:  # then ranks of one node know each other
            blocks = [host for host, _ in groupby(hosts)]
            assert len(blocks) == len(set(nodes))


def test_a_regular_order_needs_each_host_in_one_place_only() -> None:
    assert hydra_hosts("abcdabcd") == list("abcd")
    assert hydra_hosts("aabbaabba") == list("aabb")
    assert hydra_hosts("aaab") == list("aaab")


def test_ranks_of_a_node_are_numbered_in_their_order() -> None:
    assert ranks_before("abacab") == [0, 0, 1, 0, 2, 1]
    assert (is_even("abab"), is_even("aaab"), is_even("")) == (True, False, True)
