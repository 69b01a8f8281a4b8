"""What a placement keeps of a candidate group is read back as it was written, also from earlier versions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from scheduling.jobs.core.candidates import (
    Bottleneck,
    CandidateGroup,
    Objective,
    RankPair,
    SkeletonResult,
    placed,
)

names = st.text("abn-.19", min_size=1, max_size=8)
numbers = st.none() | st.integers(0, 10**9) | st.floats(0, 1e12)
reasons = st.sampled_from(
    [
        NOTHING,
        text_reason("The best."),
        Reason.of(Code.SLOWER_ALREADY),
        Reason.of(Code.PREDICTED, seconds=3.5, more=None),
        Reason.of(Code.NOT_PREDICTED, state="failed", why=text_reason("it ended with 9")),
    ]
)
pairs = st.builds(
    RankPair,
    ranks=st.tuples(st.integers(0, 99), st.integers(0, 99)),
    source=names,
    target=names,
    bandwidth=numbers,
    weight=st.floats(0, 1e9),
    measured_at=numbers,
    origin=st.sampled_from(["", "probe", "window", "forecast"]),
    link=st.none() | st.tuples(names, names),
)
groups = st.builds(
    CandidateGroup,
    nodes=st.lists(names, min_size=1, max_size=4).map(tuple),
    objective=st.builds(Objective, numbers, numbers),
    bottleneck=st.none() | st.builds(Bottleneck, pairs),
    edges=st.lists(pairs, max_size=3).map(tuple),
    score=st.none() | st.floats(0, 1e12),
    proved=st.none() | st.booleans(),
    bound=numbers,
    reason=reasons,
    place=st.none() | st.integers(0, 9),
    selected=st.none() | reasons,
    skeleton=st.none()
    | st.builds(SkeletonResult, st.sampled_from(["done", "failed"]), st.none() | names, numbers, numbers, reasons),
)

EDGE = {"source": "n1", "target": "n2", "ranks": [0, 1], "bandwidth": 9e7, "weight": 1.0}
#: As versions wrote them: the first one; with the origin of figures; and once the skeleton was tried.
FIRST: dict[str, Any] = {
    "nodes": ["n1", "n2"],
    "objective": {"min_bandwidth": 9e7, "min_cpu": 0.5},
    "bottleneck": {**EDGE, "link": {"source": "n1", "target": "s1"}},
    "edges": [EDGE],
    "score": 9e7,
    "proved": True,
    "reason": {"code": "told", "facts": {"text": "The best."}},
}
DATED = {**EDGE, "measured_at": None, "origin": ""}
SECOND = {**FIRST, "bottleneck": {**DATED, "link": None}, "edges": [DATED]}
TRIED = {
    **SECOND,
    "place": 1,
    "selected": {"code": "told", "facts": {"text": "The best."}},
    "skeleton": {
        "state": "done",
        "cause": "",
        "seconds": 2.0,
        "predicted": 31,
        "reason": {"code": "none", "facts": {}},
    },
}


@given(groups)
def test_a_group_is_read_as_it_was_written(group):
    assert CandidateGroup.read(json.loads(json.dumps(group.document()))) == group


@pytest.mark.parametrize("document", [FIRST, SECOND, TRIED])
def test_a_document_of_each_version_is_written_again_as_it_stands(document):
    assert json.dumps(CandidateGroup.read(document).document()) == json.dumps(document)


def test_a_sentence_of_the_first_versions_is_told_and_what_they_did_not_keep_is_left_out():
    tried = {"state": "failed", "seconds": None, "predicted": None, "reason": "it ended with 9"}
    group = CandidateGroup.read({"nodes": ["n1"], "reason": "The best.", "skeleton": tried})
    assert (group.reason, group.score, group.edges, group.bottleneck) == (text_reason("The best."), None, (), None)
    assert group.skeleton == SkeletonResult("failed", reason=text_reason("it ended with 9"))
    assert {"score", "proved", "place", "selected"}.isdisjoint(group.document())


def test_what_binds_is_the_link_where_one_is_known():
    pair = RankPair((0, 1), "n1", "n2", 9e7, 1.0)
    assert (Bottleneck(pair).ends, Bottleneck(replace(pair, link=("n1", "s1"))).ends) == (("n1", "n2"), ("n1", "s1"))


def test_groups_are_found_by_their_place_in_the_selection():
    first, second = CandidateGroup(("n1",)), CandidateGroup(("n2",))
    assert placed([first, second]) == {0: first, 1: second}
    moved = [CandidateGroup(("n2",), place=1), CandidateGroup(("n1",), place=0)]
    assert [placed(moved)[place].nodes for place in (0, 1)] == [("n1",), ("n2",)]
