"""The summary of table 1, and its trials."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gridportal.experiments.grid_programs import Program
from gridportal.experiments.loadtraffic.measurement import SHARE, LoadTraffic, Scale, Sized, of_equals, shared
from gridportal.experiments.loadtraffic.paper import paper
from gridportal.experiments.test_grid import with_readings
from gridportal.network import residual_capacity as passing
from gridportal.network import topology_files
from gridportal.testbed import topologies
from scheduling.selection.core.selection import Request, select

CMU8 = topology_files.load(topologies.find("cmu8"))
SCALE = Scale({"fft2d": Sized(Program("fft2d"), 4, "all-to-all")}, 2, {}, {})


def summary(done):
    return LoadTraffic(SCALE, 1, Path("none"), None).summarize(done)


def test_the_increase_is_what_came_on_top_of_the_unloaded_time_and_its_ratio_what_automatic_leaves():
    done = {f"{n}/fft2d/unloaded": {"seconds": 2.0} for n in range(2)}
    done |= {f"{n}/fft2d/load/random": {"seconds": 5.0 + n} for n in range(2)}
    done |= {f"{n}/fft2d/load/automatic": {"seconds": 3.0} for n in range(2)}

    result = summary(done)

    found = result["programs"]["fft2d"]
    assert found["seconds"]["random"]["load"]["mean"] == 5.5
    assert found["increase"]["random"]["load"]["mean"] == pytest.approx(1.75)
    assert found["increase"]["random"]["load"]["low"] == pytest.approx(1.5)
    assert result["ratios"]["fft2d"] == {"load": pytest.approx(0.5 / 1.75), "traffic": None, "both": None}
    assert result["mean_ratio"] == pytest.approx(0.5 / 1.75)


def test_nothing_is_claimed_of_what_has_not_run():
    result = summary({})

    assert result["mean_ratio"] is None
    assert result["programs"]["fft2d"]["unloaded"] is None


def test_the_paper_says_that_about_half_of_the_increase_is_left():
    table = paper()

    assert table["programs"]["airshed"]["increase"]["random"]["both"]["mean"] == pytest.approx(2.53, abs=0.01)
    assert table["programs"]["fft2d"]["increase"]["automatic"]["both"]["mean"] == pytest.approx(1.47, abs=0.01)
    assert table["mean_ratio"] == pytest.approx(0.5, abs=0.05)


def test_every_program_runs_unloaded_and_by_both_methods_under_all_conditions():
    keys = [trial.key for trial in LoadTraffic(SCALE, 1, Path("none"), None).trials()]

    assert len(keys) == len(set(keys)) == 2 * 7
    assert keys[0] == "0/fft2d/unloaded"
    assert "1/fft2d/both/automatic" in keys


def test_the_nodes_of_its_grid_have_their_share_of_a_processor(tmp_path):
    found = topology_files.load(shared(tmp_path / "deep" / "cmu8.json"))

    assert {node.speed for node in found.compute_nodes()} == {SHARE}
    assert [link.capacity for link in found.links] == [link.capacity for link in CMU8.links]


def test_where_nobody_computes_the_network_alone_decides(tmp_path):
    quiet = topology_files.load(shared(tmp_path / "cmu8.json"))
    rates = passing.left(quiet, {("m-3", "m-1"): 60e6, ("m-3", "m-2"): 40e6})
    known = of_equals(with_readings(quiet, rates, {}))

    chosen = select(known, Request(nodes=4, method="balanced"), rng=random.Random(1), clock=lambda: 0.0)

    assert chosen.objective.min_bandwidth == 100e6
    assert not {"m-1", "m-2", "m-3"} & set(chosen.nodes)
