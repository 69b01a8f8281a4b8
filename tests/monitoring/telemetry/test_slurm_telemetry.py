"""Slurm's nodes and switches as a network: loads, states, the tree, and the star where there is none."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest

from gridportal.base.errors import BackendError, InputError
from gridportal.network.topology import Link, Node, Topology
from gridportal.slurm import occupancy, tree
from monitoring.clusters.models import Cluster
from monitoring.status.selectors import network_status
from monitoring.telemetry.adapters.slurm import SlurmTelemetry, joined, star, unlinked_warning
from monitoring.telemetry.services import sweeps
from tests.scheduling.runs.fake_queue import FakeQueue


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


def test_the_load_average_is_shared_out_over_the_processors(queue: FakeQueue) -> None:
    queue.slurm_nodes["n1"] = replace(queue.slurm_nodes["n1"], cpu_load=4.0)
    queue.slurm_nodes["n2"] = replace(queue.slurm_nodes["n2"], cpu_load=None)
    loads = {load.node: load for load in SlurmTelemetry(queue, 1e9).look().loads}
    assert (loads["n1"].load, loads["n1"].cpu) == (1.0, 0.5)
    assert loads["n2"].cpu == 1.0


def test_full_nodes_are_busy_until_their_jobs_must_end_and_half_full_ones_are_not(queue: FakeQueue) -> None:
    queue.busy("n1", until=1_795_203_600.0)
    queue.slurm_nodes["n2"] = replace(queue.slurm_nodes["n2"], state="MIXED", allocated_cpus=2)
    states = {state.node: state for state in SlurmTelemetry(queue, 1e9).look().states}
    assert (states["n1"].busy, states["n1"].free_at) == (True, 1_795_203_600.0)
    assert not states["n2"].busy


def test_drained_nodes_are_closed_with_their_reason(queue: FakeQueue) -> None:
    queue.slurm_nodes["n1"] = replace(queue.slurm_nodes["n1"], flags=("DRAIN",), reason="new disk")
    state = SlurmTelemetry(queue, 1e9).look().states[0]
    assert state.closed == "Slurm has it as idle+drain: new disk."


def test_without_a_tree_all_nodes_hang_on_one_switch(queue: FakeQueue) -> None:
    found = star(queue.nodes(), "hpc", 1e9)
    assert [node.id for node in found.compute_nodes()] == ["n1", "n2", "n3", "n4"]
    assert {link.capacity for link in found.links} == {1e9}


def test_a_node_in_no_switch_is_named_and_one_that_slurm_lacks_is_left_out(queue: FakeQueue) -> None:
    nodes = (Node("n1"), Node("old"), Node("s", "network"))
    found = joined(
        Topology("t", False, "links", nodes, (Link("s", "n1", 1e9, 1e9), Link("s", "old", 1e9, 1e9))),
        queue.nodes(),
        "hpc",
    )
    assert {node.id for node in found.compute_nodes()} == {"n1", "n2", "n3", "n4"}
    assert [link.target for link in found.links] == ["n1"]
    assert "n2, n3, n4" in unlinked_warning(found)


def test_the_status_graph_has_slurms_tree_and_says_that_nothing_measures_it(fake_queue: FakeQueue) -> None:
    sweeps.measure("hpc")
    status = network_status.network_status("hpc")
    assert status is not None
    assert {node.id for node in status.topology.nodes if node.kind == "network"} == {"s1", "s2"}
    assert "capacities" in status.warning
    assert Cluster.objects.get().facts["features"] == ["small"]


def test_a_cluster_that_was_never_reached_is_shown_with_its_error(fake_queue: FakeQueue) -> None:
    fake_queue.error = BackendError("scontrol failed: Slurm's controller does not answer.")
    with pytest.raises(BackendError):
        sweeps.refresh_loads("hpc")
    assert "does not answer" in Cluster.objects.get(name="hpc").error
    assert network_status.network_status("hpc") is None


def test_what_scontrol_says_of_the_switches_is_read() -> None:
    said = (
        "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
        "SwitchName=s1 Level=0 LinkSpeed=40000 Nodes=n[3-4]\n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[0-1]\n"
    )
    assert tree.as_conf(said).splitlines() == [
        "SwitchName=s0 Nodes=n[1-2]",
        "SwitchName=s1 LinkSpeed=40000 Nodes=n[3-4]",
        "SwitchName=top Switches=s[0-1]",
    ]
    assert tree.as_conf("") == ""


@pytest.mark.parametrize("garbage", ["<html>502", "\x00\x01", "1795203600 n[1-"])
def test_garbage_about_busy_nodes_is_an_error_or_nothing(garbage: str) -> None:
    with contextlib.suppress(InputError):
        assert all(isinstance(node, str) for node in occupancy.parse(garbage))
