"""What somebody found who tried to break the selection: each once more, mended."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.reasons import Code
from gridportal.network.topology import Topology, parse
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.messages import message
from scheduling.selection.core.explanations.node_reasons import node_reasons
from scheduling.selection.core.selection import Request, Selection, select


def star(**nodes: dict) -> Topology:
    """Each node with its labels on one switch, 20 Mbit/s."""
    found = [{"id": name, **labels} for name, labels in nodes.items()] + [{"id": "s", "kind": "network"}]
    return parse({"nodes": found, "links": [{"source": name, "target": "s", "capacity": 2e7} for name in nodes]})


def choose(topology: Topology, request: Request) -> Selection:
    return select(topology, request, rng=random.Random(0), clock=time.monotonic)


THREE = star(a={"cpu": 1.0}, b={"cpu": 0.5}, c={"cpu": 1.0})


def test_with_flows_every_candidate_has_nodes_of_its_own():
    request = Request(2, "communication", flows=True, candidates=3)
    groups = {frozenset(each.nodes) for each in choose(THREE, request).candidates}
    assert groups == {frozenset("ac"), frozenset("bc"), frozenset("ab")}


def test_with_flows_a_node_with_less_cpu_is_not_said_to_be_as_good():
    request = Request(2, "communication", flows=True)
    (left,) = node_reasons(THREE, request, choose(THREE, request))
    assert (left.node, left.reason.code) == ("b", Code.NODE_LESS_CPU_AT_EQUALS)


@pytest.mark.parametrize("ranks", [None, 2])
def test_drawing_ends_when_there_are_no_other_groups(ranks):
    slots = {"a": 2, "b": 2, "c": 2} if ranks else None
    request = Request(None if ranks else 2, "random", ranks=ranks, slots=slots, candidates=2_000_000, time_budget=0.5)
    looks = itertools.count()
    found = select(THREE, request, rng=random.Random(0), clock=lambda: next(looks) * 1e-3)
    assert len({frozenset(each.nodes) for each in found.candidates}) == (6 if ranks else 3)
    assert next(looks) < 2000  # tries until the clock says half a second, or until there is nothing left


@pytest.mark.parametrize("extra", [{"pins": {"w": ["a", "b"]}}, {}])
def test_the_most_cpu_for_one_group_leaves_the_others_their_room(extra):
    topology = star(a={"cpu": 1.0, "gpu": "1"}, b={"cpu": 1.0, "gpu": "1"}, c={"cpu": 0.5})
    workers = {"name": "w", "count": 2, **({} if extra else {"require": ["gpu=1"]})}
    document = {
        "groups": [{"name": "server", "count": 1, "most": "cpu"}, workers],
        "links": [{"source": "server", "target": "w"}],
        **extra,
    }
    found = choose(topology, Request(None, "pattern", specification=ApplicationSpecification.read(document)))
    assert found.nodes[0] == "c"


def test_a_speed_is_compared_as_a_number():
    topology = star(**{name: {"speed": 1.2345649} for name in "abc"})
    assert len(choose(topology, Request(2, "compute", require={"speed": ">=1.2345649"})).nodes) == 2
    assert len(choose(THREE, Request(2, "compute", require={"speed": "1.0"})).nodes) == 2


@pytest.mark.parametrize("condition", ["speed in |", "x in ,"])
def test_a_list_without_values_is_refused(condition):
    with pytest.raises(InputError, match="require"):
        label_conditions.parse(condition)


@pytest.mark.parametrize("slots", [{"a": 10**30}, {"a": -5}, {"a": float("nan")}, {"a": 2.5}, {"a": True}])
def test_slots_are_whole_numbers(slots):
    with pytest.raises(InputError, match=r"slots\.a is"):
        choose(THREE, Request(None, "communication", ranks=2, slots=slots))


def test_ranks_on_a_node_have_a_bound():
    with pytest.raises(InputError, match="ranks_per_node"):
        choose(THREE, Request(None, "communication", ranks=2, ranks_per_node=10**20))


def test_a_pair_without_a_path_is_named_once():
    links = [{"source": "a", "target": "b", "capacity": 1e8}, {"source": "c", "target": "d", "capacity": 1e7}]
    topology = parse({"nodes": [{"id": name} for name in "abcd"], "links": links})
    for each in choose(topology, Request(3, "compute")).candidates:
        assert message(each.reason).count("no path between") <= 1


def test_what_leaves_no_room_is_still_impossible():
    document = {"groups": [{"name": "w", "count": 2}], "pins": {"w": ["a"]}}
    with pytest.raises(ImpossibleError):
        choose(THREE, Request(None, "communication", specification=ApplicationSpecification.read(document)))
