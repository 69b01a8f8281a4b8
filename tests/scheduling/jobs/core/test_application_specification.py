"""An application's specification: read, written, and refused in one sentence that names the entry."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core.application_specification import ApplicationSpecification

FARM = {
    "groups": [
        {"name": "server", "count": 2, "most": "cpu", "require": ["mem_gb>=16", "mem_gb<64", "rack in 1|2"]},
        {"name": "clients", "count": 3},
    ],
    "links": [{"source": "server", "target": "clients", "weight": 8.0}],
    "pins": {"server": ["n1", "n2"], "4": "n3"},
    "exclude": ["n4"],
}
read = ApplicationSpecification.read


def test_ranks_are_numbered_group_after_group_and_only_linked_groups_talk():
    farm = read(FARM)
    assert (farm.ranks, farm.members("clients"), farm.members("server")) == (5, range(2, 5), range(2))
    assert farm.pattern().edges == tuple((a, b, 8.0) for a in (0, 1) for b in (2, 3, 4))


def test_two_conditions_on_one_label_both_count():
    assert read(FARM).groups[0].require == {"mem_gb": ">=16 & <64", "rack": "in 1|2"}


def test_a_rank_must_meet_its_own_pin_and_that_of_its_group():
    pins = read({**FARM, "pins": {"server": ["n1", "n2"], "1": ["n2", "n3"]}}).pinned()
    assert pins == {0: ("n1", "n2"), 1: ("n2",)}


def test_a_group_may_talk_within_by_a_pattern():
    ring = read({"groups": [{"name": "a", "count": 4}], "links": [{"source": "a", "target": "a", "pattern": "ring"}]})
    assert [edge[:2] for edge in ring.pattern().edges] == [(0, 1), (0, 3), (1, 2), (2, 3)]


def test_pins_and_excluded_nodes_need_no_groups():
    pinned = read({"pins": {"0": "n3"}})
    assert (pinned.ranks, pinned.pattern(), pinned.pinned()) == (None, None, {0: ("n3",)})
    assert pinned.with_pins({"1": "n2"}, ["n9"]).document() == {"pins": {"0": "n3", "1": "n2"}, "exclude": ["n9"]}


NAMES = st.sampled_from(["server", "clients", "io", "n 1"])


@given(
    st.lists(
        st.fixed_dictionaries(
            {"name": NAMES, "count": st.integers(1, 5)},
            optional={"require": st.lists(st.sampled_from(["mem_gb>=16", "mem_gb<99", "site=utk", "rack in 1|2"]))},
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda group: group["name"],
    ),
    st.data(),
)
def test_what_is_written_is_read_again(groups, data):
    names = st.sampled_from([group["name"] for group in groups])
    links = data.draw(st.lists(st.fixed_dictionaries({"source": names, "target": names, "weight": st.floats(0.5, 9)})))
    pins = data.draw(st.dictionaries(names, st.sampled_from(["n1", "n2"])))
    specification = read({"groups": groups, "links": links, "pins": pins})
    assert read(json.loads(json.dumps(specification.document()))) == specification


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"group": []}, "a key of specification is 'group'; accepted is groups, links, pins or exclude"),
        ({"groups": {}}, "groups is .* accepted is a list"),
        ({"groups": [{"name": "a", "count": 0}]}, r"groups\[0\].count is 0; accepted is a whole number from 1"),
        ({"groups": [{"name": "7"}]}, r"groups\[0\].name is 7; accepted is a name that is no number"),
        ({"groups": [{"name": "a"}, {"name": "a"}]}, r"groups\[1\].name is 'a'; accepted is a name that no other"),
        ({"groups": [{"name": "a", "most": "disk"}]}, r"groups\[0\].most is 'disk'; accepted is cpu or memory"),
        (
            {"groups": [{"name": "a", "most": "cpu"}, {"name": "b", "most": "memory"}]},
            r"groups\[1\].most is 'memory'; accepted is for one group only",
        ),
        (
            {"groups": [{"name": "a", "require": ["mem_gb"]}]},
            r"groups\[0\].require is 'mem_gb'; accepted is label=value",
        ),
        ({"groups": [{"name": "a", "count": 4097}]}, r"groups\[0\].count is 4097"),
        (
            {"links": [{"source": "server", "target": "x"}]},
            r"links\[0\].target is 'x'; accepted is the name of a group",
        ),
        ({"links": [{"source": "server", "target": "server", "pattern": "star trek"}]}, r"links\[0\].pattern is"),
        ({"links": [{"source": "server", "target": "clients", "weight": -1}]}, r"links\[0\].weight is -1; accepted"),
        ({"pins": {"1": "n1", "01": "n2"}}, "pins is 01; accepted is one entry for rank 1, with all its nodes"),
        ({"pins": {"9": "n1"}}, "pins is 9; accepted is a rank from 0 to 4 or the name of a group"),
        ({"pins": {"0": []}}, r"pins.0 is empty; accepted is one node or more"),
        ({"pins": {"0": "n4"}}, "pins.0 is 'n4'; accepted is a node that is not excluded"),
        ({"exclude": "n4"}, "exclude is 'n4'; accepted is a list"),
        # each of these kept a web thread busy for minutes
        ({"groups": [{"name": "a", "require": [" " * 50_000 + "in"]}]}, "accepted is a condition of at most 1000 char"),
        ({"groups": [{"name": "a", "require": ["mem_gb>=1"] * 51}]}, "51 conditions'; accepted is 50 of them at most"),
        ({"groups": [{"name": f"g{i}"} for i in range(100_000)]}, "groups is 100000; accepted is 4096 ranks together"),
        (
            {"links": [{"source": "server", "target": "clients"}] * 200_000},
            "links is .1200000 pairs of ranks",
        ),
    ],
)
def test_what_cannot_be_accepted_is_named(change, sentence):
    with pytest.raises(InputError, match=sentence):
        read({**FARM, **change})
    with pytest.raises(InputError, match="specification is"):
        read([])
