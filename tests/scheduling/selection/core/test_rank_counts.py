"""How many ranks and on which nodes, against trying every number by hand; and tables that cannot be read."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Topology, parse
from scheduling.jobs.core.scaling_table import ScalingTable, counts_of
from scheduling.selection.core.counts.rank_counts import choose_count, knee
from scheduling.selection.core.placement import Objective
from scheduling.selection.core.selection import Request, Selection, select


def star(rates: list[float], cpus: list[float]) -> Topology:
    nodes = [{"id": f"n{i}", "cpu": cpu} for i, cpu in enumerate(cpus)]
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e9, "bandwidth": rate} for i, rate in enumerate(rates)]
    return parse({"nodes": [*nodes, {"id": "s", "kind": "network"}], "links": links})


def answer(topology: Topology, ranks: int) -> Selection:
    asked = Request(None, "balanced", ranks=ranks)
    return select(topology, asked, rng=random.Random(1), clock=itertools.count(0.0, 0.001).__next__)


@given(
    st.lists(st.floats(1e7, 1e9), min_size=6, max_size=6),
    st.lists(st.floats(0.1, 1.0), min_size=6, max_size=6),
    st.lists(st.tuples(st.floats(1.0, 100.0), st.floats(0.0, 50.0)), min_size=5, max_size=5),
)
def test_the_fewest_ranks_that_take_hardly_longer_are_chosen(rates, cpus, seconds):
    topology = star(rates, cpus)
    parts = {str(n): {"compute": c, "communicate": t} for n, (c, t) in enumerate(seconds, 2)}
    table = ScalingTable.read({"ranks": parts, "bandwidth": 5e8})
    choice = choose_count(range(2, 9), lambda ranks: answer(topology, ranks), table.predict)
    by_hand = {}
    for ranks, (compute, talk) in enumerate(seconds, 2):
        offers = answer(topology, ranks).objective
        by_hand[ranks] = compute / offers.min_cpu + talk * 5e8 / offers.min_bandwidth
    least = min(by_hand.values())
    assert choice.chosen.ranks == min(n for n, value in by_hand.items() if value <= least * 1.05)
    assert {p.ranks: p.seconds for p in choice.points if p.seconds is not None} == pytest.approx(by_hand)
    assert [p.ranks for p in choice.points if p.seconds is None] == [7, 8], "six nodes and no more"
    assert all(point.why for point in choice.points if point.seconds is None)
    assert json.dumps(choice.document(), allow_nan=False)


def test_what_each_more_node_buys_is_told():
    table = ScalingTable.read({"ranks": {"1": 100, "2": 52, "4": 30, "6": 29}})
    choice = choose_count(counts_of("1..6", table), lambda n: answer(star([1e9] * 6, [1.0] * 6), n), table.predict)
    assert [point.saved for point in choice.points] == [None, 48.0, 22.0, 1.0]
    assert [point.saved_per_node for point in choice.points] == [None, 48.0, 11.0, 0.5]
    assert (choice.chosen.ranks, choice.knee) == (4, 4)


def test_no_possible_number_is_said():
    table = ScalingTable.read({"ranks": {"7": 9, "8": 8}})
    with pytest.raises(
        ImpossibleError, match=r"No number of ranks is possible\. The topology has only 6 compute nodes"
    ):
        choose_count([7, 8], lambda n: answer(star([1e9] * 6, [1.0] * 6), n), table.predict)


def test_seconds_between_two_numbers_follow_a_power_of_the_ranks():
    table = ScalingTable.read({"ranks": {"2": 80, "8": 20}})
    assert table.predict(4, Objective(1e9, 1.0)) == pytest.approx(40.0)
    assert table.predict(4, Objective(1e9, 0.5)) == pytest.approx(80.0)
    with pytest.raises(InputError, match="ranks is 16; accepted is a number from 2 to 8"):
        table.predict(16, Objective(1e9, 1.0))


def test_a_group_without_links_has_no_time_on_them():
    table = ScalingTable.read({"ranks": {"2": {"compute": 10, "communicate": 5}}, "bandwidth": 1e9})
    assert table.predict(2, Objective(None, 1.0)) == 10.0
    assert table.predict(2, Objective(5e8, 1.0)) == 20.0


@given(st.dictionaries(st.integers(1, 4096), st.tuples(st.floats(0.1, 1e6), st.floats(0, 1e6)), min_size=1))
def test_a_table_that_is_written_is_read_again(seconds):
    raw = {"ranks": {str(n): {"compute": c, "communicate": t} for n, (c, t) in seconds.items()}, "cpu": 0.5}
    table = ScalingTable.read(raw)
    assert ScalingTable.read(json.loads(json.dumps(table.document()))) == table


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "scaling is .* accepted is an object with ranks"),
        ({"ranks": {}}, "scaling.ranks is .* accepted is an object such as"),
        ({"ranks": {"0": 5}}, "scaling.ranks is 0; accepted is numbers of ranks from 1 to 4096"),
        ({"ranks": {"2": -1}}, "scaling.ranks.2 is -1; accepted is seconds above 0"),
        ({"ranks": {"2": {"compute": 1, "wait": 2}}}, "a key of scaling.ranks.2 is 'wait'; accepted is compute or"),
        ({"ranks": {"2": {"communicate": 2}}}, "scaling.ranks.2.compute is empty; accepted is seconds above 0"),
        ({"ranks": {"2": 1}, "bandwidth": 0}, "scaling.bandwidth is 0; accepted is bit/s above 0"),
        ({"ranks": {"2": 1}, "speed": 1}, "a key of scaling is 'speed'; accepted is ranks, cpu or bandwidth"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(document, said):
    with pytest.raises(InputError, match=said):
        ScalingTable.read(document)


@pytest.mark.parametrize("text", ["", "0", "2..", "8..2", "a", "2,,4", "5000"])
def test_numbers_that_cannot_be_read_are_refused(text):
    with pytest.raises(InputError, match=r"accepted is a number of ranks, several as 2,4,8, or a range as 2\.\.16"):
        counts_of(text)


def test_a_curve_that_only_rises_has_its_knee_at_its_begin():
    assert knee({1: 5.0, 2: 6.0, 4: 9.0}) == 1
