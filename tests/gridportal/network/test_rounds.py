"""Rounds of measurements: every pair once, nothing shared within a round, and no link taken beyond its share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from gridportal.network import rounds
from gridportal.network.rounds import apart, split, tournament
from gridportal.network.topology import Link, Node, Topology


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


def brute_force(pairs: list[tuple[str, str]], links: Callable[[str, str], set[int]]) -> int:
    """The fewest rounds there can be, by trying every round for every pair."""

    def place(index: int, plan: list[set[object]]) -> int:
        if index == len(pairs):
            return len(plan)
        needed = {*pairs[index], *links(*pairs[index])}
        best = len(pairs)
        for at, taken in enumerate(plan):
            if taken.isdisjoint(needed):
                best = min(best, place(index + 1, [*plan[:at], taken | needed, *plan[at + 1 :]]))
        return min(best, place(index + 1, [*plan, set(needed)])) if len(plan) < best else best

    return place(0, [])


@given(st.integers(2, 4), st.data())
def test_rounds_apart_are_at_most_twice_as_many_as_need_be_on_small_networks(count: int, data: st.DataObject) -> None:
    links = {
        frozenset(pair): data.draw(st.sets(st.integers(0, 3), max_size=2)) for pair in combinations(names(count), 2)
    }

    def shared(a: str, b: str) -> set[int]:
        return links[frozenset((a, b))]

    fewest = brute_force(list(combinations(names(count), 2)), shared)
    assert fewest <= len(apart(names(count), shared)) <= 2 * fewest


def tree(switches: int, leaves: int, *, directed: bool) -> Topology:
    """Switches in a line with `leaves` nodes each, 100 Mbit/s to the nodes and 50 Mbit/s between switches."""
    nodes = [Node(f"s{i}", "network") for i in range(switches)]
    nodes += [Node(f"n{i}.{j}") for i in range(switches) for j in range(leaves)]
    pairs = [(f"n{i}.{j}", f"s{i}", 100e6) for i in range(switches) for j in range(leaves)]
    pairs += [(f"s{i}", f"s{i + 1}", 50e6) for i in range(switches - 1)]
    if directed:
        pairs += [(b, a, rate) for a, b, rate in pairs]
    return Topology("tree", directed, "links", tuple(nodes), tuple(Link(a, b, rate, rate) for a, b, rate in pairs))


@given(st.integers(1, 3), st.integers(2, 4), st.booleans())
def test_on_a_tree_no_two_probes_of_a_round_meet_on_a_link(switches: int, leaves: int, directed: bool) -> None:
    topology = tree(switches, leaves, directed=directed)
    computers = [node.id for node in topology.compute_nodes()]
    ways = rounds.ways_of(topology)
    plan = apart(computers, rounds.both_ways(ways))
    assert sorted(sorted(pair) for group in plan for pair in group) == sorted(map(sorted, combinations(computers, 2)))
    for group in plan:
        for way in (lambda a, b: ways(a, b), lambda a, b: ways(b, a)):
            used = [link for pair in group for link in way(*pair)]
            assert len(used) == len(set(used))


def test_a_star_needs_no_more_rounds_than_a_tournament() -> None:
    topology = tree(1, 8, directed=False)
    computers = [node.id for node in topology.compute_nodes()]
    assert len(apart(computers, rounds.both_ways(rounds.ways_of(topology)))) == 7


def test_the_ways_of_a_pair_are_the_links_that_its_data_takes() -> None:
    ways = rounds.ways_of(tree(2, 1, directed=True))
    assert ways("n0.0", "n1.0") == [("n0.0", "s0"), ("s0", "s1"), ("s1", "n1.0")]
    assert ways("n1.0", "n0.0") == [("n1.0", "s1"), ("s1", "s0"), ("s0", "n0.0")]
    crossbar = Topology("x", True, "pairs", (Node("a"), Node("b")), (Link("a", "b", 1e6, 1e6),))
    assert rounds.ways_of(crossbar)("a", "b") == [("a", "b")]
    assert rounds.ways_of(crossbar)("b", "a") == []


@given(st.integers(0, 12), st.integers(0, 40))
def test_one_round_of_a_tournament_is_the_same_as_in_the_whole(count: int, index: int) -> None:
    whole = tournament(names(count))
    if whole:
        assert rounds.tournament_round(names(count), index % len(whole)) == whole[index % len(whole)]


@given(
    st.floats(1e5, 1e10),
    st.floats(0.001, 0.5),
    st.integers(1_000, 10**7),
    st.lists(st.floats(0.1, 100.0), min_size=1, max_size=20),
)
def test_no_row_of_windows_allows_more_than_the_share_and_one_probe(
    capacity: float, share: float, size: int, lengths: list[float]
) -> None:
    now, allowed = 1.7e9, 0
    for length in lengths:
        allowed += rounds.room({("a", "b"): capacity}, share, size, now, now + length)["a", "b"]
        now += length
    assert (allowed - 1) * size * 8 <= share * capacity * (now - 1.7e9) * (1 + 1e-6) + 1


@given(st.integers(1, 3), st.integers(2, 4), st.integers(0, 6), st.integers(1, 50), st.booleans())
def test_what_is_affordable_fits_on_every_link(
    switches: int, leaves: int, each: int, most: int, directed: bool
) -> None:
    topology = tree(switches, leaves, directed=directed)
    ways = rounds.ways_of(topology)
    left = {way: each for a, b in permutations([n.id for n in topology.compute_nodes()], 2) for way in ways(a, b)}
    pairs = list(combinations([node.id for node in topology.compute_nodes()], 2))
    chosen = rounds.affordable(pairs, ways, left, most)
    assert len(chosen) <= most
    used = rounds.carried([(way, 1) for a, b in chosen for way in ((a, b), (b, a))], ways)
    assert all(used[link] <= left[link] for link in used)
    if each and most:
        assert chosen[:1] == pairs[:1]


def test_a_pair_over_a_slow_link_comes_to_its_turn_though_others_ask_for_its_other_links() -> None:
    ways = rounds.ways_of(tree(2, 2, directed=False))
    everyone = ["n0.0", "n0.1", "n1.0", "n1.1"]
    slow = rounds.affordable([("n0.0", "n1.0"), ("n0.0", "n0.1")], ways, {("n0.0", "s0"): 1, ("s0", "n0.0"): 1}, 9)
    assert slow == []
    last: dict[tuple[str, str], float] = {}
    capacities = {way: 1e6 for a, b in permutations(everyone, 2) for way in ways(a, b)}
    capacities[("s0", "s1")] = capacities[("s1", "s0")] = 1e5
    for step in range(1, 200):
        left = rounds.room(capacities, 0.02, 10_000, (step - 1) * 10.0, step * 10.0)
        order = rounds.oldest_first(everyone, last, 0, 100)
        last |= dict.fromkeys(rounds.affordable(order, ways, left, 100), float(step))
    assert {frozenset(pair) for pair in last} == {frozenset(pair) for pair in combinations(everyone, 2)}


@given(st.integers(2, 12), st.integers(0, 30), st.integers(1, 80), st.data())
def test_the_order_begins_with_what_was_never_measured_and_then_with_the_oldest(
    count: int, start: int, most: int, data: st.DataObject
) -> None:
    everyone = [pair for group in tournament(names(count)) for pair in group]
    known = {pair: data.draw(st.floats(0, 9)) for pair in data.draw(st.sets(st.sampled_from(everyone)))}
    order = list(rounds.oldest_first(names(count), known, start, most))
    new = [pair for pair in order if pair not in known]
    assert len(new) == len(set(new)) == min(most, len(everyone) - len(known))
    assert order[: len(new)] == new
    assert [known[pair] for pair in order[len(new) :]] == sorted(known.values())


def test_pairs_are_split_in_the_order_given() -> None:
    assert split([("a", "b"), ("a", "c"), ("c", "d")], lambda a, b: ()) == [[("a", "b"), ("c", "d")], [("a", "c")]]


def test_with_a_limit_of_rounds_the_pairs_without_room_are_left_out() -> None:
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("c", "d")]
    assert split(pairs, lambda a, b: (), 2) == [[("a", "b"), ("c", "d")], [("a", "c")]]
