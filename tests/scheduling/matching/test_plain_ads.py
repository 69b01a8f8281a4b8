"""The requirements of the form and the request that they make: one meaning."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.network.topology import Node, Topology
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.requirements import Requirements
from scheduling.matching.core.plain_ads import plain_ad
from scheduling.matching.core.topology_ads import topology_ads
from scheduling.matching.services.match_texts import MatchQuestion, answer
from scheduling.selection.core.slots.node_slots import meets_all
from tests.examples import examples

_VALUES = st.sampled_from(["utk", "UTK", "16", "16.0", "1e3", "-2", "a lot", "x|y", "0"])
_SIGNS = st.sampled_from(["", "!=", "<", "<=", ">", ">=", "in "])
_LABELS = st.sampled_from(["site", "mem_gb", "memory", "speed", "a-b", "type"])
_NODES = st.builds(
    Node,
    id=st.just("n"),
    cpu=st.sampled_from([0.0, 0.5, 1.0]),
    speed=st.sampled_from([1.0, 16.0]),
    labels=st.dictionaries(st.sampled_from(["site", "mem_gb", "a-b", "type"]), _VALUES, max_size=3),
)


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, str]:
    made = {}
    for label in draw(st.lists(_LABELS, max_size=2, unique=True)):
        sign, value = draw(_SIGNS), draw(_VALUES)
        if sign.strip() in ("<", "<=", ">", ">=") and label_conditions.number(value) is None:
            value = "16"
        made[label] = f"{sign}{value}"
    return made


@settings(max_examples=examples(36, fuzz=600))
@given(node=_NODES, require=conditions(), least=st.sampled_from([None, 0.5]))
def test_a_node_matches_where_it_meets_all_conditions(node: Node, require: dict[str, str], least: float | None) -> None:
    asked = Requirements.read({"require": require, "min_cpu": least})
    found = answer(MatchQuestion(plain_ad(asked), topology_ads(Topology("one", False, "links", (node,), ()))))
    assert bool(found.passing) == (meets_all(node, require.items()) and node.cpu >= (least or 0.0)), plain_ad(asked)
