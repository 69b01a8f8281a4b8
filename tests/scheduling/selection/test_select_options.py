"""What is typed is used or refused, never ignored; names are printed as they are, whatever they hold."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from gridportal.base.typed_options import Commands
from monitoring.status.commands import network
from monitoring.status.selectors import remos_queries
from monitoring.telemetry.adapters import topology_file
from monitoring.telemetry.core.figures import FORECAST, window
from scheduling.placing.commands import free_nodes, select
from scheduling.placing.commands.select import select_command
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.profiles.core.profile import document, of_counters

APP = typer.Typer(cls=Commands)
APP.command("select")(select_command)
APP.add_typer(network.app, name="network")
NAMES = ("[bold]a", "b[i]", "[red]", "n[1]")


def write(path: Path, *, graph: str = "net") -> str:
    nodes = [{"id": name, "mem_gb": size} for name, size in zip(NAMES, (8, 16, 32, 64), strict=True)]
    links = [{"source": name, "target": "s[x]", "capacity": 1e8} for name in NAMES]
    switch = {"id": "s[x]", "kind": "network"}
    path.write_text(json.dumps({"graph": {"name": graph}, "nodes": [*nodes, switch], "links": links}))
    return str(path)


@pytest.fixture
def topology(tmp_path: Path) -> str:
    return write(tmp_path / "net.json", graph="[/net]")


def run(*args: object):
    return CliRunner().invoke(APP, [str(arg) for arg in args], env={"COLUMNS": "200"})


def choose(topology: str, *args: object, method: str = "compute", nodes: int = 2):
    return run("select", "--topology", topology, "--nodes", nodes, "--method", method, *args)


@pytest.mark.parametrize("args", [(), ("--flows",)])
def test_names_with_brackets_are_printed_as_they_are(topology, args):
    result = choose(topology, *args, method="communication", nodes=4)
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in NAMES)
    assert "s[x]" in result.output


@pytest.mark.parametrize(
    "args",
    [
        ("network", "flows", "[red]:b[i]"),
        ("network", "logical", "[red]", "b[i]"),
    ],
)
def test_queries_print_names_with_brackets_as_they_are(topology, args):
    result = run(*args, "--topology", topology)
    assert result.exit_code == 0, result.output
    assert "[red]" in result.output
    assert "[/net]" in result.output


def test_checks_and_conversions_print_names_with_brackets_as_they_are(tmp_path, topology):
    assert run("network", "check", topology).exit_code == 0
    assert all(name in run("network", "convert", topology).output for name in NAMES)
    bad = json.loads(Path(topology).read_text())
    bad["links"][0]["target"] = "[nobody]"
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    result = run("network", "check", tmp_path / "bad.json")
    assert result.exit_code == 2
    assert "[nobody]" in result.output


@pytest.mark.parametrize(
    ("method", "args", "said"),
    [
        ("compute", ("--pattern", "ring"), "--pattern is 'ring'; accepted is the method pattern or balanced with it"),
        ("communication", ("--slack", "0.1"), "--slack is 0.1; accepted is the method pattern without --flows with it"),
        ("compute", ("--priority", "compute=2"), "--priority is 'compute=2'; accepted is the method balanced with it"),
        (
            "communication",
            ("--reference-bandwidth", "1G"),
            "--reference-bandwidth is '1G'; accepted is the method balanced with it",
        ),
        ("compute", ("--require", "mem_gb"), "--require is 'mem_gb'; accepted is label=value, or a label with !=, <,"),
        ("compute", ("--require", "mem_gb>=big"), "--require is 'mem_gb>=big'; accepted is a number after >="),
        ("compute", ("--cluster", "grid"), "--cluster is 'grid'; accepted is either --topology or --cluster"),
        ("compute", ("--window", "1h"), "a file has no history"),
    ],
)
def test_an_option_that_is_not_used_is_refused(topology, method, args, said):
    result = choose(topology, *args, method=method)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_labels_are_compared_as_numbers(topology):
    answer = json.loads(choose(topology, "--require", "mem_gb>=16", "--json", nodes=3).stdout)
    assert set(answer["nodes"]) == {"b[i]", "[red]", "n[1]"}


def test_two_conditions_on_one_label_both_count(topology):
    both = ("--require", "mem_gb>=16", "--require", "mem_gb<9")
    result = choose(topology, *both)
    assert result.exit_code == 2
    assert "None of 4 nodes has mem_gb>=16 and mem_gb<9" in " ".join(result.output.split())
    result = choose(topology, "--require", "mem_gb>=16", nodes=4)
    assert "Only 3 of 4 nodes have mem_gb>=16, 4 were asked for." in result.output
    answer = json.loads(choose(topology, "--require", "mem_gb!=16", "--json", nodes=3).stdout)
    assert "b[i]" not in answer["nodes"]
    answer = json.loads(choose(topology, "--require", "mem_gb=32", "--json", nodes=1).stdout)
    assert answer["nodes"] == ["[red]"]


def test_a_topology_conf_without_link_speed_takes_the_capacity_that_is_given(tmp_path):
    path = tmp_path / "topology.conf"
    path.write_text("SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=top Switches=s1,s2\n")
    bare = choose(str(path), method="communication")
    assert bare.exit_code == 2
    assert "no capacity is known" in bare.output
    answer = json.loads(choose(str(path), "--capacity", "10G", "--json", method="communication").stdout)
    assert answer["objective"]["min_bandwidth"] == 10e9
    for query in (("flows", "n1:n3"), ("logical", "n1", "n3")):
        assert run("network", *query, "--topology", path, "--capacity", "10G").exit_code == 0


def test_a_profile_is_a_pattern(tmp_path, topology):
    sizes = np.zeros((3, 3))
    sizes[0, 1] = sizes[1, 2] = 5e8
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(document(of_counters("line", sizes, 10.0))))
    answer = json.loads(choose(topology, "--pattern", path, "--json", method="pattern", nodes=3).stdout)
    assert [edge["ranks"] for edge in answer["candidates"][0]["edges"]] == [[0, 1], [1, 2]]


def test_graphml_is_read(tmp_path, topology):
    path = tmp_path / "net.graphml"
    path.write_text(run("network", "convert", topology, "--to", "graphml").stdout)
    assert choose(str(path), method="communication").exit_code == 0
    assert run("network", "flows", "[red]:b[i]", "--topology", path).exit_code == 0


def test_a_cluster_of_the_portal_is_asked_as_it_is_measured(monkeypatch, topology):
    asked = []

    def measured(cluster, *, when):
        asked.append((cluster, when))
        return cluster, topology_file.load(topology)

    monkeypatch.setattr(select, "database", nullcontext)
    monkeypatch.setattr(remos_queries, "network_of", measured)
    monkeypatch.setattr(free_nodes, "occupancy", lambda *_, **__: Occupancy({}, {}, {}))
    question = ("select", "--cluster", "hpc", "--nodes", 2, "--method", "communication", "--json")
    assert json.loads(run(*question, "--window", "1h").stdout)["objective"]["min_bandwidth"] == 1e8
    assert run(*question, "--forecast").exit_code == 0
    assert asked == [("hpc", window(3600.0)), ("hpc", FORECAST)]
    assert "--ahead is 'soon'; accepted is a time such as 90s" in run(*question, "--ahead", "soon").output
    assert "--capacity is 1000000000.0; accepted is a topology file" in run(*question, "--capacity", "1G").output
