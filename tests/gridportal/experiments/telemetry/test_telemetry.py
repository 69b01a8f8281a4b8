"""The summary of the telemetry experiment, and its trials."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import gridportal
from gridportal.experiments.telemetry.measurement import Telemetry, _sharing
from gridportal.network import topology_files
from gridportal.network.routes import Routes

CMU8 = topology_files.load(Path(gridportal.__file__).parent / "testbed" / "topologies" / "cmu8.json")


def test_each_question_is_answered_by_the_share_of_answers_within_its_goal():
    done = {
        "bandwidth/cmu8/0": {"pairs": [{"measured": 95.0, "shaped": 100.0}, {"measured": 50.0, "shaped": 100.0}]},
        "flows/cmu8/0": {"flows": [{"asked": 40.0, "got": 50.0}, {"asked": 50.0, "got": 50.0}]},
        "cpu/cmu8/0": {"said": 0.5, "got": 0.45},
        "selection/crossbar10/0": {"measured": 91.0, "best": 100.0},
    }

    result = Telemetry(1, 1, None).summarize(done)

    assert result["bandwidth"]["share"] == 0.5
    assert result["flows"]["share"] == 0.5
    assert result["cpu"]["worst_error"] == pytest.approx(0.05)
    assert result["selection"]["share"] == 1.0
    assert result["reached"] == {"bandwidth": False, "flows": False, "cpu": True, "selection": True}


def test_a_question_without_answers_has_reached_nothing():
    result = Telemetry(1, 1, None).summarize({})

    assert result["cpu"] == {"n": 0, "share": None, "median_error": None, "worst_error": None}
    assert set(result["reached"].values()) == {False}


def test_the_two_flows_have_four_ends_and_a_link_in_common():
    routes = Routes(CMU8)
    for seed in range(20):
        (a, b), (c, d) = _sharing(CMU8, random.Random(seed))
        one, other = routes.path(a, b), routes.path(c, d)

        assert len({a, b, c, d}) == 4
        assert one is not None
        assert other is not None
        assert set(one.arcs) & set(other.arcs)
