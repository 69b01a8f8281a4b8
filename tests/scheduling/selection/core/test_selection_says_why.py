"""What a person reads: bottlenecks, reasons, and the sentence for a request that cannot be met."""

from __future__ import annotations

import json
import random

import pytest

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Link, Node, Topology, parse
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.messages import message
from scheduling.selection.core.selection import Request, Selection, document, select


def choose(topology: Topology, request: Request, clock=lambda: 0.0) -> Selection:
    return select(topology, request, rng=random.Random(request.seed), clock=clock)


def star(rates: list[float], **more) -> Topology:
    nodes = [{"id": f"n{i}", **{k: v[i - 1] for k, v in more.items()}} for i in range(1, len(rates) + 1)]
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e8, "bandwidth": r} for i, r in enumerate(rates, 1)]
    return parse({"nodes": [*nodes, {"id": "s", "kind": "network"}], "links": links})


def pairs(rates: dict[str, float], directed: bool = False) -> Topology:
    ends = [key.split("-") for key in rates]
    names = sorted({name for pair in ends for name in pair})
    links = [
        {"source": a, "target": b, "capacity": 1e8, "bandwidth": r}
        for (a, b), r in zip(ends, rates.values(), strict=True)
    ]
    return parse(
        {"directed": directed, "graph": {"kind": "pairs"}, "nodes": [{"id": n} for n in names], "links": links}
    )


FOUR = {"a-b": 90e6, "b-c": 80e6, "c-d": 70e6, "a-d": 60e6, "a-c": 10e6, "b-d": 20e6}


def test_the_bottleneck_names_ranks_nodes_rate_and_the_link_that_binds():
    first = choose(star([90e6, 40e6, 80e6, 70e6]), Request(3, "communication")).candidates[0]
    assert first.nodes == ("n1", "n3", "n4")
    assert (first.bottleneck.source, first.bottleneck.target, first.bottleneck.ranks) == ("n1", "n4", (0, 2))
    assert first.bottleneck.bandwidth == 70e6
    assert first.link == ("n4", "s")


def test_a_loser_says_how_much_its_bottleneck_gives_and_how_much_less_that_is():
    losers = choose(star([90e6, 40e6, 80e6, 62e6]), Request(2, "communication")).candidates[1:]
    assert message(losers[0].reason) == "bottleneck n1-n4 gives 62 Mbit/s, 18 Mbit/s less than the chosen group"


def test_a_loser_of_equal_bottleneck_says_what_else_it_lost_by():
    rates = {"a-b": 50e6, "b-c": 90e6, "c-d": 50e6, "a-c": 10e6, "a-d": 10e6, "b-d": 10e6}
    selection = choose(pairs(rates), Request(3, "pattern", named("line", 3)))
    assert [c.score for c in selection.candidates[:2]] == [50e6, 50e6]
    assert "equal to the chosen group" in message(selection.candidates[1].reason)


def test_every_pair_that_talks_is_listed_with_its_rate_and_weight():
    pattern = Pattern("mine", 3, ((0, 1, 8.0), (1, 2, 2.0)))
    first = choose(pairs(FOUR), Request(3, "pattern", pattern)).candidates[0]
    assert [(e.ranks, e.weight) for e in first.edges] == [((0, 1), 8.0), ((1, 2), 2.0)]
    assert [e.bandwidth for e in first.edges] == [90e6, 80e6]


def test_the_heavier_pair_gets_the_faster_path_where_the_bottleneck_allows():
    for weights in ((1.0, 9.0), (9.0, 1.0)):
        pattern = Pattern("mine", 3, ((0, 1, weights[0]), (1, 2, weights[1])))
        first = choose(pairs(FOUR), Request(3, "pattern", pattern)).candidates[0]
        heavy = max(first.edges, key=lambda e: e.weight)
        assert heavy.bandwidth == 90e6


def test_a_directed_pair_is_worth_its_slower_direction():
    rates = {"a-b": 90e6, "b-a": 30e6, "b-c": 40e6, "c-b": 50e6, "a-c": 20e6, "c-a": 20e6}
    selection = choose(pairs(rates, directed=True), Request(2, "communication"))
    assert selection.nodes == ("b", "c")
    assert selection.objective.min_bandwidth == 40e6
    assert selection.candidates[0].link == ("b", "c")
    assert selection.candidates[1].link == ("b", "a")


def test_a_compute_node_with_two_links_does_not_forward():
    net = parse(
        {
            "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
            "links": [{"source": "a", "target": "b", "capacity": 1e8}, {"source": "b", "target": "c", "capacity": 1e8}],
        }
    )
    assert choose(net, Request(3, "pattern", named("line", 3))).nodes[1] == "b"
    with pytest.raises(
        ImpossibleError,
        match="No 3 nodes are joined by paths among the 3 nodes that may be used; the largest connected set is 2",
    ):
        choose(net, Request(3, "communication"))


def test_compute_names_the_lowest_cpu_and_counts_speed():
    net = star([1e8] * 3, cpu=[0.9, 0.8, 0.5], speed=[1.0, 1.0, 2.0])
    selection = choose(net, Request(2, "compute"))
    assert set(selection.nodes) == {"n1", "n3"}
    assert selection.objective.min_cpu == 0.9
    assert message(selection.candidates[0].reason).startswith("lowest cpu 90 %")
    assert message(selection.candidates[1].reason) == "lowest cpu 80 %, 10 points less than the chosen group"


def test_compute_compares_equals_by_their_bandwidth():
    selection = choose(star([1e8, 1e8, 5e7, 5e7]), Request(2, "compute"))
    assert message(selection.candidates[0].reason).endswith("has more; among equals the bandwidth decided")
    words = "as much cpu as the chosen group, but bottleneck n3-n4 gives 50 Mbit/s, 50 Mbit/s less"
    assert message(selection.candidates[1].reason) == words
    selection = choose(star([1e8, 1e8, 1e8, 1e8]), Request(2, "compute"))
    words = "equal to the chosen group in all that decides (lowest cpu 100 %); the first of equal groups is taken"
    assert message(selection.candidates[1].reason) == words


def test_the_chosen_group_says_the_same_of_its_equals_as_they_do():
    selection = choose(star([1e8, 1e8, 1e8, 5e7, 5e7]), Request(2, "compute", candidates=6))
    said = [message(each.reason) for each in selection.candidates]
    assert any("the first of equal groups is taken" in each for each in said[1:])
    assert any("50 Mbit/s less" in each for each in said[1:])
    assert said[0].endswith("among equals the bandwidth decided, and of those equal in that too the first is taken")


def test_ep_has_no_communication_and_takes_the_most_cpu():
    selection = choose(star([1e8] * 3, cpu=[0.2, 0.9, 0.5]), Request(2, "pattern", named("ep", 2)))
    assert set(selection.nodes) == {"n2", "n3"}
    assert selection.objective.min_bandwidth is None
    assert selection.bottleneck is None


def test_balanced_goes_on_where_the_papers_greedy_would_stop():
    """Figure 3 stops when removing one link does not help at once; two removals do here."""
    nodes = [{"id": n, "cpu": c} for n, c in zip("abcd", (1.0, 1.0, 0.9, 0.9), strict=True)]
    wires = [("a", "s", 0.1), ("b", "s", 0.2), ("c", "s", 0.8), ("d", "s", 0.8)]
    links = [{"source": u, "target": v, "capacity": 1e8, "bandwidth": w * 1e8} for u, v, w in wires]
    net = parse({"nodes": [*nodes, {"id": "s", "kind": "network"}], "links": links})
    selection = choose(net, Request(2, "balanced"))
    assert selection.nodes == ("c", "d")
    assert selection.candidates[0].score == pytest.approx(0.8)


def test_priority_two_counts_half_a_cpu_as_a_quarter_of_the_bandwidth():
    net = star([1e8 * 0.25] * 2, cpu=[0.5, 0.5])
    assert choose(net, Request(2, "balanced", compute_priority=2.0)).candidates[0].score == pytest.approx(0.25)
    net = star([1e8 * 0.26] * 2, cpu=[0.5, 0.5])
    assert choose(net, Request(2, "balanced", compute_priority=2.0)).candidates[0].score == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (Request(5, "compute"), "The topology has only 4 compute nodes, 5 were asked for."),
        (
            Request(3, "compute", require={"site": "utk"}),
            "Only 2 of 4 nodes have site=utk, 3 were asked for.",
        ),
        (
            Request(3, "random", min_cpu=0.5),
            "Only 2 nodes have cpu >= 0.5, 3 were asked for: the best 3 have cpu >= 0.4.",
        ),
        (
            Request(2, "balanced", min_cpu=0.5, require={"site": "utk"}),
            "Only 1 node has site=utk and cpu >= 0.5, 2 were asked for: the best 2 have cpu >= 0.4.",
        ),
        (
            Request(2, "communication", min_bandwidth=95e6),
            "No 2 nodes with 95 Mbit/s or more: the best 2 reach 80 Mbit/s (n1 n3).",
        ),
        (
            Request(3, "pattern", named("ring", 3), min_bandwidth=95e6),
            "No 3 nodes for ring with 95 Mbit/s or more: the best 3 reach 70 Mbit/s (n1 n3 n4).",
        ),
        (
            Request(2, "compute", min_bandwidth=95e6),
            "No 2 nodes with 95 Mbit/s or more: the best 2 reach 80 Mbit/s (n1 n3).",
        ),
        (
            Request(2, "random", min_bandwidth=95e6),
            "No 2 nodes with 95 Mbit/s or more: the best 2 reach 80 Mbit/s (n1 n3).",
        ),
        (
            Request(4, "compute", exclude=frozenset({"n1"})),
            "Only 3 of 4 nodes are free (not excluded, not in use), and 4 were asked for.",
        ),
        (
            Request(2, "compute", exclude=frozenset({"n1", "n2", "n3", "n4"})),
            "None of 4 nodes is free (not excluded, not in use), and 2 were asked for.",
        ),
        (
            Request(2, "compute", min_cpu=0.95),
            "No node has cpu >= 0.95, 2 were asked for: the best 2 have cpu >= 0.6.",
        ),
    ],
)
def test_an_impossible_request_names_what_fails_and_the_best_that_could_be_had(request_, sentence):
    net = star([90e6, 40e6, 80e6, 70e6], cpu=[0.9, 0.6, 0.4, 0.2], site=["utk", "uiuc", "utk", "uiuc"])
    with pytest.raises(ImpossibleError) as caught:
        choose(net, request_)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("nodes", Request(0, "compute")),
        ("nodes", Request(True, "compute")),
        ("candidates", Request(1, "compute", candidates=0)),
        ("method", Request(1, "best")),
        ("pattern", Request(2, "pattern")),
        ("nodes", Request(3, "pattern", named("ring", 4))),
        ("min_bandwidth", Request(2, "compute", min_bandwidth=-1.0)),
        ("min_cpu", Request(2, "compute", min_cpu=1.5)),
        ("min_cpu", Request(2, "compute", min_cpu=float("nan"))),
        ("compute_priority", Request(2, "balanced", compute_priority=0.0)),
        ("reference_bandwidth", Request(2, "balanced", reference_bandwidth=0.0)),
        ("time_budget", Request(2, "pattern", named("ring", 2), time_budget=0.0)),
        ("exclude", Request(2, "compute", exclude=frozenset({"nowhere"}))),
    ],
)
def test_a_wrong_value_is_refused_by_name(field, request_):
    with pytest.raises(InputError) as caught:
        choose(star([1e8, 1e8]), request_)
    assert caught.value.field == field


def test_out_of_time_the_best_found_is_given_and_not_called_optimal():
    rng = random.Random(3)
    rates = {f"n{a:02}-n{b:02}": rng.uniform(1e7, 1e8) for a in range(40) for b in range(a)}
    now = iter(range(10**9))
    selection = choose(
        pairs(rates), Request(16, "pattern", named("hypercube", 16), time_budget=3.0), clock=lambda: float(next(now))
    )
    assert not selection.optimal
    assert len(set(selection.nodes)) == 16
    assert "not proved" in message(selection.candidates[0].reason)
    assert selection.objective.min_bandwidth == min(e.bandwidth for e in selection.candidates[0].edges) > 0


def test_among_equals_the_candidates_share_as_few_nodes_as_possible():
    selection = choose(star([1e8] * 9), Request(3, "communication"))
    assert [set(c.nodes) for c in selection.candidates] == [
        {"n1", "n2", "n3"},
        {"n4", "n5", "n6"},
        {"n7", "n8", "n9"},
    ]
    everywhere = {f"n{a}-n{b}": 1e8 for a in range(8) for b in range(a)}
    first, second = choose(pairs(everywhere), Request(4, "pattern", named("ring", 4), candidates=2)).candidates
    assert not set(first.nodes) & set(second.nodes)


def test_one_node_has_no_pair_and_no_bandwidth():
    for method in ("random", "compute", "communication", "balanced"):
        selection = choose(star([1e8] * 3, cpu=[0.2, 0.9, 0.5]), Request(1, method))
        assert selection.objective.min_bandwidth is None
        assert method == "random" or selection.nodes == ("n2",)


def test_the_document_is_json_with_the_keys_that_are_promised():
    selection = choose(pairs(FOUR), Request(4, "pattern", named("ring", 4)))
    told = json.loads(json.dumps(document(selection), allow_nan=False))
    assert told["nodes"] == list(selection.nodes)
    assert told["objective"] == {"min_bandwidth": 60e6, "min_cpu": 1.0}
    assert {told["bottleneck"]["source"], told["bottleneck"]["target"]} == {"a", "d"}
    assert told["optimal"] is True
    assert told["candidates"][0]["nodes"] == told["nodes"]
    assert told["pattern"] == "ring"
    assert told["seconds"] >= 0


def test_out_of_time_before_any_group_is_found_says_so():
    net = pairs({f"n{a}-n{b}": 1e8 for a in range(9) for b in range(a) if (a + b) % 2})
    now = iter(range(10**9))
    request = Request(4, "random", min_bandwidth=1e6, time_budget=0.5)
    with pytest.raises(ImpossibleError, match=r"No group of 4 nodes was found in 0\.5 s"):
        choose(net, request, clock=lambda: float(next(now)))


def test_every_pair_tells_when_its_figure_was_measured_and_by_what() -> None:
    links = (
        Link("a", "s", 100, 60, measured_at=50.0, origin="probe"),
        Link("b", "s", 100, 80, measured_at=70.0, origin="forecast"),
        Link("c", "s", 100, 90),
    )
    net = Topology("star", False, "links", (Node("a"), Node("b"), Node("c"), Node("s", "network")), links)
    for flows in (False, True):
        request = Request(2, "communication", flows=flows, exclude=frozenset("c"))
        found = select(net, request, rng=random.Random(0), clock=lambda: 0.0)
        edge = document(found)["candidates"][0]["edges"][0]
        assert edge["measured_at"] == 50.0
        assert "probe" in edge["origin"]
    unknown = select(net, Request(2, "communication", exclude=frozenset("a")), rng=random.Random(0), clock=lambda: 0.0)
    assert document(unknown)["bottleneck"]["measured_at"] == 70.0


@pytest.mark.parametrize("method", ["communication", "balanced", "pattern"])
@pytest.mark.parametrize("cycle", [False, True])
def test_of_nodes_that_no_paths_join_the_largest_connected_set_is_named(method, cycle):
    nodes = [*({"id": x} for x in "abcde"), *({"id": x, "kind": "network"} for x in "stu")]
    ends = [("a", "s"), ("b", "s"), ("c", "s"), ("d", "t"), ("e", "t")]
    ends += [("s", "u"), ("u", "v"), ("v", "s")] if cycle else []
    nodes += [{"id": "v", "kind": "network"}] if cycle else []
    links = [{"source": x, "target": y, "capacity": 1e8} for x, y in ends]
    pattern = named("ring", 4) if method == "pattern" else None
    said = r"are joined by paths among the 5 nodes that may be used; the largest connected set is 3\."
    with pytest.raises(ImpossibleError, match=said):
        choose(parse({"nodes": nodes, "links": links}), Request(4, method, pattern))


def test_compute_says_of_a_group_without_paths_that_it_has_none():
    nodes = [{"id": "a", "cpu": 1.0}, {"id": "b", "cpu": 1.0}, {"id": "c", "cpu": 0.5}, {"id": "s", "kind": "network"}]
    links = [{"source": "a", "target": "s", "capacity": 1e8}, {"source": "c", "target": "s", "capacity": 1e8}]
    first, *others = choose(parse({"nodes": nodes, "links": links}), Request(2, "compute")).candidates
    assert message(first.reason) == (
        "lowest cpu 100 %; no other group of 2 nodes has more; a and b have no path between them"
    )
    assert message(others[0].reason) == "lowest cpu 50 %, 50 points less than the chosen group"
