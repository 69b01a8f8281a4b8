"""Which groups may be tried at once, which cannot win, and which has won."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gridportal.network.flows import Flow, flow_query
from gridportal.network.topology import Link, Topology, parse
from scheduling.skeletons.core import trial_rounds
from scheduling.skeletons.core.trial_rounds import Plan

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] != pair[1]), max_size=15)


def tree(trunk: float = 1e8, access: float = 1e8, leaves: int = 4) -> Topology:
    """Two switches with a trunk between them, and some nodes at each: a0.. and b0.."""
    nodes = [{"id": f"{side}{i}"} for side in "ab" for i in range(leaves)]
    switches = [{"id": side, "kind": "network"} for side in "AB"]
    links = [{"source": node["id"], "target": node["id"][0].upper(), "capacity": access} for node in nodes]
    links.append({"source": "A", "target": "B", "capacity": trunk})
    return parse({"nodes": [*nodes, *switches], "links": links})


@given(count=st.integers(0, 7), pairs=PAIRS)
def test_rounds_hold_every_group_once_and_none_that_disturb_others(count: int, pairs: list[tuple[int, int]]) -> None:
    forbidden = [pair for pair in pairs if max(pair) < count]
    found = trial_rounds.rounds(count, forbidden)
    assert sorted(itertools.chain(*found)) == list(range(count))
    apart = {frozenset(pair) for pair in forbidden}
    for row in found:
        assert not any(frozenset(pair) in apart for pair in itertools.combinations(row, 2))
    for place, row in enumerate(found):  # nobody waits for a round that it need not wait for
        for group, earlier in itertools.product(row, found[:place]):
            assert any(frozenset((group, other)) in apart for other in earlier)


@given(pairs=PAIRS, running=st.sets(st.integers(0, 3)))
def test_what_may_start_disturbs_nothing_that_runs_and_leaves_out_nothing_that_could(
    pairs: list[tuple[int, int]], running: set[int]
) -> None:
    planned = [group for group in range(7) if group not in running]
    chosen = trial_rounds.startable(planned, running, pairs)
    apart = {frozenset(pair) for pair in pairs}
    together = [*running, *chosen]
    assert not any(frozenset((a, b)) in apart for a in chosen for b in together if a != b)
    for left in set(planned) - set(chosen):
        assert any(frozenset((left, other)) in apart for other in together)


def test_groups_on_both_sides_of_a_trunk_that_binds_wait_for_each_other() -> None:
    across = [("a0", "b0"), ("a1", "b1"), ("a2", "a3"), ("a0", "a1")]
    assert trial_rounds.apart(tree(), across, [(0, 1)]) == ((0, 1), (0, 3), (1, 3))
    assert trial_rounds.apart(tree(trunk=1e9), across, [(0, 1)]) == ((0, 3), (1, 3))


def test_a_trunk_that_binds_neither_alone_but_both_together_keeps_them_apart() -> None:
    groups = [("a0", "b0"), ("a1", "b1")]
    assert trial_rounds.apart(tree(trunk=1.5e8), groups, [(0, 1)]) == ((0, 1),)
    assert trial_rounds.apart(tree(trunk=2.0e8), groups, [(0, 1)]) == ()


def test_ranks_of_one_node_send_over_no_link() -> None:
    inside, crossing = ("a0", "a0", "a1", "a1"), ("b0", "b1", "b0", "b1")
    across, through = ("a2", "b2", "a2", "b2"), ("a3", "b3", "b3", "a3")
    edges = [(0, 1), (2, 3)]
    assert trial_rounds.apart(tree(), [inside, crossing, across], edges) == ()
    assert trial_rounds.apart(tree(), [inside, across, through], edges) == ((1, 2),)
    assert trial_rounds.apart(tree(), [inside, ("a1", "a1", "b0", "b0")], edges) == ((0, 1),)


def test_paths_of_a_crossbar_are_private_so_only_nodes_count() -> None:
    names = "abcde"
    links = [{"source": x, "target": y, "capacity": 1e7} for x in names for y in names if x != y]
    net = parse({"directed": True, "graph": {"kind": "pairs"}, "nodes": [{"id": x} for x in names], "links": links})
    assert trial_rounds.apart(net, [("a", "b"), ("c", "d"), ("d", "e")], [(0, 1)]) == ((1, 2),)


@given(
    rates=st.lists(st.sampled_from([1e7, 2e7, 5e7, 1e8]), min_size=9, max_size=9),
    groups=st.lists(
        st.permutations([f"{side}{i}" for side in "ab" for i in range(4)]).map(lambda p: tuple(p[:3])),
        min_size=2,
        max_size=3,
    ),
)
def test_groups_that_run_at_once_slow_none_of_their_flows(rates: list[float], groups: list[tuple[str, ...]]) -> None:
    """Against a flow query for all of them together, whatever the links have."""
    document = tree()
    net = Topology(
        document.name,
        document.directed,
        document.kind,
        document.nodes,
        tuple(Link(old.source, old.target, rate, rate) for old, rate in zip(document.links, rates, strict=True)),
    )
    edges = [(0, 1), (1, 2)]
    apart = trial_rounds.apart(net, groups, edges)
    for one, other in itertools.combinations(range(len(groups)), 2):
        if (one, other) in apart:
            continue
        alone = [flow_query(net, _flows(groups[group], edges)) for group in (one, other)]
        together = flow_query(net, _flows(groups[one], edges) + _flows(groups[other], edges))
        for before, after in zip([*alone[0], *alone[1]], together, strict=True):
            assert after.bandwidth >= before.bandwidth * (1 - 1e-5)


def _flows(group: tuple[str, ...], edges: list[tuple[int, int]]) -> list[Flow]:
    return [Flow(group[x], group[y]) for a, b in edges for x, y in ((a, b), (b, a))]


def test_estimates_and_bounds_come_from_work_bytes_and_rates() -> None:
    sizes = np.array([[0, 1e6, 0], [3e6, 0, 2e6], [0, 2e6, 0]])
    rates = {(0, 1): 8e6, (1, 2): 16e6}
    assert trial_rounds.least_seconds([1.0, 0.5, 0.5], sizes, rates) == 1.0
    assert trial_rounds.least_seconds([0.1], sizes, rates) == 1.0
    assert trial_rounds.estimate([1.0, 0.5, 0.5], sizes, rates) == 1.0 + 4.0 + 2.0


@given(
    bounds=st.lists(st.floats(0.1, 50), min_size=4, max_size=4),
    actual=st.lists(st.floats(0.1, 100), min_size=4, max_size=4),
)
def test_a_bound_never_leaves_out_the_best_group(bounds: list[float], actual: list[float]) -> None:
    real = [max(pair) for pair in zip(bounds, actual, strict=True)]
    lost = trial_rounds.hopeless([2, 3], {0: real[0], 1: real[1]}, bounds, real, "aaaa")
    best = min(range(4), key=lambda group: (real[group], group))
    assert best not in lost


def test_nothing_is_left_out_before_two_groups_were_tried() -> None:
    assert trial_rounds.hopeless([1, 2], {0: 1.0}, [1.0, 11.0, 12.0], [1.0, 20.0, 20.0], "aaa") == {}


def test_what_predictions_of_another_kind_exaggerate_tells_nothing_about_a_group() -> None:
    """Ranks that share a node send what no estimate counts: their predictions are 5 times their estimates. Scaled by
    that, the group whose ranks are apart would take 831 s or more and never be tried, though it takes 170 s."""
    predicted, estimates = {0: 200.0, 1: 204.0}, [40.0, 40.0, 166.2, 166.2]
    lost = trial_rounds.hopeless([2, 3], predicted, [1.0] * 4, estimates, ["shared", "shared", "apart", "shared"])
    assert list(lost) == [3], "the fourth is of the kind of those that were tried"
    assert lost[3].facts == {"seconds": 831.0}


def test_one_group_of_its_kind_gives_no_ratio_but_bounds_hold_for_every_kind() -> None:
    predicted, estimates, bounds = {0: 200.0, 1: 204.0}, [40.0, 40.0, 166.2, 166.2], [1.0, 1.0, 1.0, 200.0]
    assert list(trial_rounds.hopeless([2, 3], predicted, bounds, estimates, ["one", "two", "two", "three"])) == [3]


@given(
    estimates=st.lists(st.floats(1, 50), min_size=5, max_size=5),
    factors=st.lists(st.floats(0.8, 1.25), min_size=5, max_size=5),
)
def test_when_estimates_err_as_was_seen_the_best_is_tried(estimates: list[float], factors: list[float]) -> None:
    """The spread of what was tried is the error of what was not."""
    low, high = sorted(factors[:2])
    real = [e * min(max(f, low), high) for e, f in zip(estimates, factors, strict=True)]
    lost = trial_rounds.hopeless([2, 3, 4], {0: real[0], 1: real[1]}, [0.0] * 5, estimates, "aaaaa")
    best = min(real)
    assert all(real[group] >= best * (1 - 1e-9) for group in lost)
    assert not lost or min(real[group] for group in lost) >= min(real[0], real[1]) * (1 - 1e-9)


def test_a_plan_is_the_same_after_it_was_a_document() -> None:
    plan = Plan(7, (0, 2), ((0, 1),), (1.0, 2.0), (3.0, 4.0), 1.5, 60.0, 6.0)
    assert Plan.read({**plan.document(), "finding": "later"}) == plan


@given(st.dictionaries(st.integers(0, 5), st.floats(0, 100)))
def test_the_winner_has_the_least_seconds_and_of_equals_the_first_place(predicted: dict[int, float]) -> None:
    found = trial_rounds.winner(predicted)
    assert found == min(predicted, key=lambda group: (predicted[group], group), default=None)
