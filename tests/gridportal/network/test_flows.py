"""Flow queries: what is promised fits on every link, each flow is held by one thing, and the small cases are right."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.sharing import sharing
from gridportal.network.topology import Topology
from tests.examples import examples
from tests.gridportal.network.networks import ask, dumbbell, fat_tree, random_network

networks = st.builds(
    random_network,
    st.integers(0, 10_000),
    cycles=st.integers(0, 4),
    directed=st.booleans(),
    kind=st.sampled_from(["links", "pairs"]),
)


@given(networks, st.integers(0, 1000), st.booleans())
@settings(max_examples=examples(41, fuzz=200), deadline=None)
def test_flows_fit_and_each_is_held_by_one_link_where_none_has_more(
    topology: Topology, seed: int, half_duplex: bool
) -> None:
    """The others who yield are the binding link's own and have no more each than the flow: so it is max-min fair."""
    if len({_medium((x.source, x.target), not topology.directed) for x in topology.links}) < len(topology.links):
        return  # parallel links cannot be told apart by their ends
    rates = flow_query(topology, [Flow(a, b) for a, b in ask(seed, topology)], half_duplex=half_duplex)
    half_duplex &= not topology.directed
    state = {(x.source, x.target): sharing(x) for x in topology.links}
    if not topology.directed:
        state |= {(b, a): found for (a, b), found in state.items()}
    crossing: dict[object, list[float]] = defaultdict(list)
    for rate in rates:
        for hop in pairwise(rate.path):
            crossing[_medium(hop, half_duplex)].append(rate.bandwidth)
    for rate in rates:
        if rate.held == "no path":
            assert (rate.bandwidth, rate.path) == (0.0, ())
            continue
        assert rate.held == "link"
        assert rate.binding in pairwise(rate.path)
        here, full = crossing[_medium(rate.binding, half_duplex)], state[rate.binding]
        assert rate.bandwidth == pytest.approx(max(here))
        left_to_others = full.room - sum(here)
        assert left_to_others == pytest.approx(min(full.others_cap, full.others * rate.bandwidth), abs=1e-6)
    for medium, here in crossing.items():
        assert sum(here) <= state[tuple(medium)].room * (1 + 1e-9)  # type: ignore[arg-type]


def _medium(hop: tuple[str, str], half_duplex: bool) -> tuple[str, ...]:
    return tuple(sorted(hop)) if half_duplex else hop


@given(networks, st.integers(0, 1000))
def test_one_flow_alone_gets_the_smallest_available_bandwidth_on_its_path(topology: Topology, seed: int) -> None:
    (a, b), *_ = ask(seed, topology)
    (rate,) = flow_query(topology, [Flow(a, b)])
    least = {}
    for link in reversed(topology.links):
        least[link.source, link.target] = link.bandwidth
        if not topology.directed:
            least[link.target, link.source] = link.bandwidth
    along = [least[hop] for hop in pairwise(rate.path)]
    if len(least) == len(topology.links) * (1 if topology.directed else 2):
        assert rate.bandwidth == pytest.approx(min(along, default=0.0))


@given(networks, st.integers(0, 1000))
def test_the_order_of_the_question_changes_no_answer(topology: Topology, seed: int) -> None:
    flows = [Flow(a, b) for a, b in ask(seed, topology)]
    there = flow_query(topology, flows)
    back = flow_query(topology, flows[::-1])[::-1]
    assert [r.bandwidth for r in there] == pytest.approx([r.bandwidth for r in back])


def test_two_flows_share_a_link_and_a_third_takes_what_they_leave() -> None:
    net = dumbbell()
    rates = flow_query(net, [Flow("a", "c"), Flow("b", "c"), Flow("d", "c")])
    assert [r.bandwidth for r in rates] == [50, 50, 900]
    assert [r.binding for r in rates] == [("s", "t"), ("s", "t"), ("t", "c")]


def test_directions_share_nothing_unless_the_medium_is_one() -> None:
    both = [Flow("a", "c"), Flow("c", "a")]
    assert [r.bandwidth for r in flow_query(dumbbell(), both)] == [100, 100]
    assert [r.bandwidth for r in flow_query(dumbbell(), both, half_duplex=True)] == [50, 50]


def test_others_who_yield_are_shared_with_and_others_who_do_not_are_not() -> None:
    two = [Flow("a", "c"), Flow("b", "d")]
    assert [r.bandwidth for r in flow_query(dumbbell(bandwidth=50, used=100), two)] == pytest.approx([100 / 3] * 2)
    assert [r.bandwidth for r in flow_query(dumbbell(bandwidth=50, used=50), two)] == [25, 25]
    assert [r.bandwidth for r in flow_query(dumbbell(bandwidth=50), two)] == [25, 25]


def test_a_demand_is_all_that_a_flow_takes_and_the_rest_goes_to_the_others() -> None:
    little, rest = flow_query(dumbbell(), [Flow("a", "c", demand=10), Flow("b", "d")])
    assert (little.bandwidth, little.held, little.binding) == (10, "demand", None)
    assert (rest.bandwidth, rest.held) == (90, "link")


def test_low_and_high_are_the_answers_at_both_ends_of_what_is_known() -> None:
    (rate,) = flow_query(dumbbell(low=60, high=120), [Flow("a", "c")])
    assert (rate.low, rate.bandwidth, rate.high) == (60, 100, 100)


def test_a_measured_latency_counts_before_the_sum_of_the_links() -> None:
    net = dumbbell(latency=0.003)
    assert flow_query(net, [Flow("a", "c")])[0].latency == 0.003
    assert flow_query(net, [Flow("a", "c")], latencies={("a", "c"): 0.5})[0].latency == 0.5


def test_the_oldest_figure_of_the_path_is_told_and_none_where_one_was_never_measured() -> None:
    net = dumbbell(measured_at=7.0)
    assert flow_query(net, [Flow("a", "c")])[0].measured_at is None
    old = replace(net, links=tuple(replace(x, measured_at=x.measured_at or 9.0, origin="probe") for x in net.links))
    found = flow_query(old, [Flow("a", "c")])[0]
    assert (found.measured_at, found.origins) == (7.0, ("probe",))


def test_of_several_paths_one_is_used_and_that_is_said() -> None:
    rates = flow_query(fat_tree(4), [Flow("n0.0.0", "n1.0.0"), Flow("n0.0.1", "n1.0.1"), Flow("n0.0.0", "n0.0.1")])
    assert [r.several for r in rates] == [True, True, False]
    assert [r.bandwidth for r in rates] == [50, 50, 50]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (Flow("x", "a"), "flows[0].source is 'x'; accepted is the name of a compute node: a, b, c, d."),
        (Flow("a", "s"), "flows[0].target is 's'; accepted is the name of a compute node: a, b, c, d."),
        (Flow("a", "a"), "flows[0].target is 'a'; accepted is a node other than the source."),
        (Flow("a", "b", demand=0), "flows[0].demand is 0; accepted is a number above 0."),
        (Flow("a", "b", demand=math.nan), "flows[0].demand is nan; accepted is a number above 0."),
        (Flow("a", "b", weight=math.inf), "flows[0].weight is inf; accepted is a number from 0.001 to 1000."),
        (Flow("a", "b", weight=1e-320), "flows[0].weight is 1e-320; accepted is a number from 0.001 to 1000."),
    ],
)
def test_a_flow_that_cannot_be_is_refused_in_one_sentence(flow: Flow, said: str) -> None:
    with pytest.raises(InputError) as refused:
        flow_query(dumbbell(), [flow])
    assert str(refused.value) == said
