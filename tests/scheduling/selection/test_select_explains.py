"""`gridportal select --explain`: why nodes were not taken, and what a better link would buy, as tables and JSON."""

from __future__ import annotations

from tests.scheduling.selection.test_select_command import run, told, topology

__all__ = ["topology"]


def test_each_node_that_was_not_taken_has_its_reason_and_reasons_are_counted(topology):
    args = ("--topology", topology, "--nodes", 2, "--method", "communication", "--require", "site=utk")
    left = told(*args, "--explain")["left"]
    assert [each["node"] for each in left["nodes"]] == ["n2", "n4", "n5", "n6"]
    assert left["nodes"][0]["reason"] == "site=utk was asked for; it has site=uiuc"
    assert left["counts"] == [
        {"code": "node_lacks", "kind": "without site=utk", "nodes": 3},
        {"code": "node_slower", "kind": "slower than the slowest pair of the group", "nodes": 1},
    ]
    output = run(*args, "--explain").output
    assert "3  without site=utk" in output
    assert "n5    50 Mbit/s to n3 in the place of n1, less than the group's 70 Mbit/s" in output


def test_without_the_option_no_node_is_weighed(topology):
    assert "left" not in told("--topology", topology, "--nodes", 2, "--method", "communication")


def test_a_better_link_is_said_with_what_it_buys(topology):
    args = ("--topology", topology, "--nodes", 3, "--method", "communication")
    assert told(*args)["next_link"] == {
        "links": [{"source": "n3", "target": "s"}],
        "bandwidth": 7e7,
        "then": 8e7,
        "binding": {"source": "n2", "target": "s"},
    }
    gain = "the slowest pair would have 80 Mbit/s in place of 70 Mbit/s"
    assert f"With a faster link n3-s {gain}; then n2-s is the limit." in run(*args).output


def test_one_node_alone_has_no_link(topology):
    assert told("--topology", topology, "--nodes", 1, "--method", "compute")["next_link"] is None
