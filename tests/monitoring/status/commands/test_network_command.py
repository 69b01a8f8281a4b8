"""`gridportal network` as scripts and people use it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from gridportal.base.errors import GridPortalError
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.status.commands import network
from monitoring.status.commands.network import app
from monitoring.telemetry.adapters.topology_file import load

FABRIC = Path(__file__).parents[3] / "gridportal" / "network" / "importers" / "fabric.ibnetdiscover"


def run(*args: str) -> Any:
    return CliRunner().invoke(app, [*args], env={"COLUMNS": "140"})


def told(*args: str) -> Any:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*args: str) -> str:
    result = run(*args)
    assert isinstance(result.exception, GridPortalError)
    assert result.exception.exit_code == 2
    return str(result.exception)


def test_flows_on_a_file_are_told_in_their_order_with_what_binds_them() -> None:
    answer = told("flows", "m-1>m-4", "m-2:m-5@20M", "--topology", "cmu8")
    assert [flow["bandwidth"] for flow in answer["flows"]] == [80e6, 20e6]
    assert [flow["held_by"] for flow in answer["flows"]] == ["link", "demand"]
    assert answer["flows"][0]["binding"] == {"source": "panama", "target": "gibraltar"}
    assert answer["flows"][0]["path"] == ["m-1", "panama", "gibraltar", "m-4"]


def test_people_get_a_table() -> None:
    shown = run("flows", "m-1:m-4", "--topology", "cmu8").output
    assert "100 Mbit/s" in shown
    assert "m-1 > m-4" in shown


def test_a_shared_medium_halves_what_both_directions_get() -> None:
    both = ("flows", "m-1:m-2", "m-2:m-1", "--topology", "cmu8")
    assert [flow["bandwidth"] for flow in told(*both)["flows"]] == [100e6, 100e6]
    assert [flow["bandwidth"] for flow in told(*both, "--half-duplex")["flows"]] == [50e6, 50e6]


def test_the_logical_topology_says_what_its_links_stand_for() -> None:
    answer = told("logical", "m-1", "m-7", "--topology", "cmu8")
    (link,) = answer["links"]
    assert (link["through"], len(link["made_of"])) == (["panama", "gibraltar", "suez"], 4)
    assert answer["left_out"]["compute_nodes"] == 6
    assert "panama gibraltar suez" in run("logical", "m-[1,7]", "--topology", "cmu8").output


def test_a_good_file_is_good_and_a_bad_one_ends_with_two_and_every_sentence(tmp_path: Path) -> None:
    good = run("check", str(FABRIC))
    assert (good.exit_code, "nothing is wrong" in good.output) == (0, True)
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3 LinkSpeed=1G\n")
    bad = run("check", str(conf), "--nodes", "n[1-2],n4", "--json")
    assert bad.exit_code == 2
    assert json.loads(bad.stdout)["problems"] == [
        "n3 is in the file and not a node of the cluster.",
        "n4 is a node of the cluster and not in the file.",
        "line 1: no capacity is known of the links s1 - n1 and s1 - n2.",
        "n3 has no way to n1 and n2.",
    ]
    assert "--capacity 10G" in run("check", str(conf)).output
    assert "--capacity" not in run("check", str(conf), "--capacity", "1G").output


def test_a_file_is_printed_in_the_formats_that_networkx_reads(tmp_path: Path) -> None:
    written = tmp_path / "cmu8.graphml"
    written.write_text(run("convert", "cmu8", "--to", "graphml").output)
    assert nx.read_graphml(written).nodes["m-1"]["site"] == "cmu"
    assert "nothing is wrong" in run("check", str(written)).output
    document = json.loads(run("convert", str(written)).output)
    assert sorted(node["id"] for node in document["nodes"]) == sorted(node.id for node in load("cmu8").nodes)
    assert nx.node_link_graph(document, edges="links").number_of_edges() == 10


def test_links_without_a_speed_are_converted_with_the_one_that_is_given(tmp_path: Path) -> None:
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s1 Nodes=n[1-2]\n")
    assert json.loads(run("convert", str(conf), "--capacity", "1G").output)["links"][0]["capacity"] == 1e9
    assert "no capacity is known" in refused("convert", str(conf))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("flows", "m-1", "--topology", "cmu8"), "flows is 'm-1'; accepted is SOURCE>TARGET or SOURCE:TARGET"),
        (("flows", "m-1:zz", "--topology", "cmu8"), "flows[0].target is 'zz'; accepted is the name of a compute node"),
        (
            ("flows", "a:b", "--topology", "nowhere"),
            "--topology is 'nowhere'; accepted is a topology file or cactus or cmu8",
        ),
        (("flows", "a:b", "--topology", "cmu8", "--forecast"), "a file has no history"),
        (("flows", "a:b", "--topology", "cmu8", "--cluster", "grid"), "either --topology or --cluster"),
        (("flows", "a:b", "--window", "soon"), "--window is 'soon'; accepted is a time such as 90s, 15m, 1h or 7d."),
        (("flows", "a:b", "--window", "1h", "--forecast"), "either --window or a forecast"),
        (("flows", "a:b", "--window", "1h", "--ahead", "1h"), "either --window or a forecast"),
        (("flows", "a:b", "--topology", "cmu8", "--ahead", "1h"), "a file has no history"),
        (("flows", "a:b", "--ahead", "soon"), "--ahead is 'soon'"),
        (("logical", "m-1", "m-1", "--topology", "cmu8"), "nodes is 'm-1'; accepted is each node once."),
        (("check", "nowhere"), "accepted is a topology file"),
        (("check", "cmu8", "--capacity", "fast"), "--capacity is 'fast'"),
    ],
)
def test_bad_input_is_one_sentence(args: tuple[str, ...], said: str) -> None:
    assert said in refused(*args)


@pytest.mark.django_db
def test_the_cluster_of_a_portal_is_asked_where_no_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "database", nullcontext)
    row = Cluster.objects.create(name="grid", topology="two", kind="pairs", directed=True, warning="Nothing is shaped.")
    ends = [Node.objects.create(cluster=row, name=name, position=at) for at, name in enumerate(("n1", "n2"))]
    Link.objects.create(cluster=row, source=ends[0], target=ends[1], capacity=1e8, bandwidth=4e7)
    answer = told("flows", "n1:n2", "n2:n1")
    assert [(flow["bandwidth"], flow["held_by"]) for flow in answer["flows"]] == [(4e7, "link"), (0.0, "no path")]
    assert answer["warning"] == "Nothing is shaped."
    assert told("logical", "n1", "n2", "--cluster", "grid")["links"][0]["bandwidth"] == 4e7
    assert "never reached" not in refused("flows", "n1:n2", "--cluster", "moon")


def test_the_logical_topology_says_no_latency_that_nobody_knows_and_counts_what_is_left_out() -> None:
    shown = run("logical", "m-1", "m-7", "--topology", "cmu8").output
    assert "0 ms" not in shown
    assert "Left out: 6 other nodes and 6 links." in shown
    assert "Left out: 1 other node and 1 link." in run("logical", "m-[1-7]", "--topology", "cmu8").output
