"""Ranks, nodes and ranks a node agree with each other, or one sentence says which does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.rank_request import MOST, RankRequest

COUNTS = st.none() | st.integers(1, 64)


@given(COUNTS, COUNTS, COUNTS)
def test_what_is_accepted_agrees_and_what_is_refused_does_not(ranks, nodes, per_node):
    agrees = ranks is None or ((nodes or 1) <= ranks and not (nodes and per_node and ranks > nodes * per_node))
    if not agrees:
        with pytest.raises(InputError, match=r"^(ranks|nodes) is \d+; accepted is at most"):
            RankRequest(ranks, nodes, per_node)
        return
    asked = RankRequest(ranks, nodes, per_node)
    assert asked.total >= asked.least_nodes() >= 1
    assert (asked.nodes_asked or asked.total) * (per_node or asked.total) >= asked.total


@given(COUNTS, COUNTS, COUNTS)
def test_a_number_of_ranks_that_follows_is_left_out_and_follows_again(ranks, nodes, per_node):
    try:
        asked = RankRequest(ranks, nodes, per_node)
    except InputError:
        return
    short = asked.without_what_follows()
    assert (short.total, short.nodes_asked, short.least_nodes()) == (
        asked.total,
        asked.nodes_asked,
        asked.least_nodes(),
    )
    assert short.without_what_follows() == short


@given(st.integers(1, 64), st.integers(1, 16), st.integers(0, 200), st.none() | st.integers(0, 10_000))
def test_the_slots_of_a_node_are_the_most_ranks_that_fit_on_it(ranks, cpus, has, memory):
    asked = RankRequest(ranks=ranks, cpus_per_rank=cpus, memory_per_rank=100, gres_per_rank="gpu:2")
    slots = asked.slots(has, memory, {"gpu": 8})

    def fits(count):
        return count * cpus <= has and count * 2 <= 8 and (memory is None or count * 100 <= memory)

    assert fits(slots)
    assert not fits(slots + 1)


def test_of_a_node_whose_processors_nobody_says_there_is_one_slot_or_as_many_as_are_asked_for():
    assert RankRequest(ranks=8).slots(None) == 1
    assert RankRequest(ranks=8, ranks_per_node=4).slots(None) == 4
    assert RankRequest(ranks=8, ranks_per_node=4).slots(64) == 4
    assert RankRequest(ranks=8, gres_per_rank="gpu").slots(64, gres={}) == 0


def test_what_is_missing_is_as_sbatch_has_it():
    assert RankRequest() == RankRequest(cpus_per_rank=1)
    assert [RankRequest().total, RankRequest().nodes_asked] == [1, 1]
    assert [RankRequest(nodes=3).total, RankRequest(nodes=3).is_one_a_node] == [3, True]
    assert [RankRequest(ranks=8).nodes_asked, RankRequest(ranks=8).least_nodes(3)] == [None, 3]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"ranks": 0}, "ranks is 0; accepted is a whole number from 1 to 4096, or nothing."),
        ({"ranks": True}, "ranks is true; accepted is a whole number from 1 to 4096, or nothing."),
        ({"nodes": MOST + 1}, "nodes is 4097; accepted is a whole number from 1 to 4096, or nothing."),
        ({"ranks": 2, "nodes": 3}, "nodes is 3; accepted is at most 2, one for each rank."),
        (
            {"ranks": 9, "nodes": 2, "ranks_per_node": 4},
            "ranks is 9; accepted is at most 8, which is 2 nodes with at most 4 ranks each.",
        ),
        (
            {"nodes": 4096, "ranks_per_node": 2},
            "ranks_per_node is 2; accepted is at most 1 on 4096 nodes, for a job has at most 4,096 ranks.",
        ),
        ({"cpus_per_rank": 0}, "cpus_per_rank is 0; accepted is a whole number from 1 to 4,096."),
        ({"memory_per_rank": 0}, "memory_per_rank is 0; accepted is whole MB from 1 to 1073741824."),
        (
            {"gres_per_rank": "gpu:0"},
            "gres_per_rank is gpu:0; accepted is names with a count of at least 1, such as gpu:2 or gpu:a100:2.",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(asked, sentence):
    with pytest.raises(InputError) as refused:
        RankRequest(**asked)
    assert str(refused.value).replace("'", "") == sentence


def test_the_option_of_earlier_jobs_says_how_many_processors_a_rank_has():
    class Row:
        ranks, ranks_per_node, cpus_per_rank, memory_per_rank, gres_per_rank = 4, None, 1, None, ""
        options = ClusterOptions(cpus_per_rank=2)

    assert RankRequest.of(Row(), 4).cpus_per_rank == 2
    Row.cpus_per_rank = 3
    with pytest.raises(InputError, match="cpus_per_rank is 3; accepted is 2, as the option"):
        RankRequest.of(Row(), 4)
