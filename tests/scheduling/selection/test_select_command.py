"""`gridportal select` as scripts and people use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from scheduling.placing.commands.select import select_command

APP = typer.Typer()
APP.command("select")(select_command)

SWITCH = {
    "nodes": [
        *({"id": f"n{i}", "cpu": i / 10, "site": "utk" if i % 2 else "uiuc"} for i in range(1, 7)),
        {"id": "s", "kind": "network"},
    ],
    "links": [{"source": f"n{i}", "target": "s", "capacity": 1e8, "bandwidth": 1e8 - i * 1e7} for i in range(1, 7)],
}


@pytest.fixture
def topology(tmp_path: Path) -> str:
    path = tmp_path / "switch.json"
    path.write_text(json.dumps(SWITCH))
    return str(path)


def run(*args: str):
    return CliRunner().invoke(APP, [str(arg) for arg in args])


def told(*args: str) -> dict:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_json_has_the_documented_keys(topology):
    answer = told("--topology", topology, "--nodes", 3, "--method", "communication", "--candidates", 2)
    assert answer["nodes"] == ["n1", "n2", "n3"]
    assert answer["objective"] == {"min_bandwidth": 7e7, "min_cpu": 0.1}
    assert {"source", "target"} <= answer["bottleneck"].keys()
    assert answer["method"] == "communication"
    assert answer["optimal"] is True
    assert len(answer["candidates"]) == 2
    assert answer["candidates"][0]["nodes"] == answer["nodes"]
    assert answer["seconds"] > 0


@pytest.mark.parametrize(("method", "nodes"), [("compute", {"n6", "n5"}), ("communication", {"n1", "n2"})])
def test_each_method_maximises_its_own(topology, method, nodes):
    assert set(told("--topology", topology, "--nodes", 2, "--method", method)["nodes"]) == nodes


def test_balanced_takes_the_highest_fraction_of_both_at_once(topology):
    first = told("--topology", topology, "--nodes", 2, "--method", "balanced")["candidates"][0]
    assert "n5" in first["nodes"]
    assert first["score"] == pytest.approx(0.4)


def test_random_depends_on_the_seed_alone(topology):
    drawn = [told("--topology", topology, "--nodes", 3, "--method", "random", "--seed", s)["nodes"] for s in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_requirements_are_kept(topology):
    args = ("--topology", topology, "--nodes", 2, "--method", "communication")
    assert told(*args, "--require", "site=utk", "--min-cpu", "0.3")["nodes"] == ["n3", "n5"]
    assert told(*args, "--exclude", "n1")["nodes"] == ["n2", "n3"]
    assert set(told(*args[:-1], "compute", "--min-bandwidth", "60M")["nodes"]) == {"n3", "n4"}


def test_priority_moves_the_balance(topology):
    args = ("--topology", topology, "--nodes", 2, "--method", "balanced")
    assert set(told(*args, "--priority", "communication=4")["nodes"]) != set(told(*args)["nodes"])
    assert set(told(*args, "--priority", "compute=2")["nodes"]) == {"n5", "n6"}


def test_a_pattern_may_be_a_file(topology, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"nodes": [{"id": r} for r in range(3)], "links": [{"source": 0, "target": 2}]}))
    answer = told("--topology", topology, "--nodes", 3, "--method", "pattern", "--pattern", path)
    assert answer["pattern"] == "mine"
    assert {answer["nodes"][0], answer["nodes"][2]} == {"n1", "n2"}
    assert answer["objective"]["min_bandwidth"] == 8e7


@pytest.mark.parametrize("name", ["crossbar10", "cmu8"])
def test_a_shipped_topology_is_known_by_name(name):
    assert len(told("--topology", name, "--nodes", 4, "--method", "pattern", "--pattern", "cg")["nodes"]) == 4


def test_people_get_tables_with_the_reasons(topology):
    result = run("--topology", topology, "--nodes", 2, "--method", "communication")
    assert result.exit_code == 0
    assert "n1 n2" in result.stdout
    assert "bottleneck n1-n2 gives 80 Mbit/s" in result.stdout
    assert "Candidate groups" in result.stdout
    assert "Remark" in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--nodes", "7", "--method", "compute"], "only 6 compute nodes, 7 were asked for"),
        (["--nodes", "0", "--method", "compute"], "--nodes is 0"),
        (["--nodes", "2", "--method", "random", "--seed", "-1"], "seed is -1; accepted is a whole number from 0"),
        (["--nodes", "2", "--method", "best"], "--method is 'best'"),
        (["--nodes", "2", "--method", "pattern"], "--pattern is empty"),
        (["--nodes", "6", "--method", "pattern", "--pattern", "hypercube"], "power of two"),
        (["--nodes", "2", "--method", "pattern", "--pattern", "nowhere.json"], "one of ring"),
        (["--nodes", "2", "--method", "communication", "--min-bandwidth", "90M"], "the best 2 reach 80 Mbit/s (n1 n2)"),
        (["--nodes", "2", "--method", "communication", "--min-bandwidth", "fast"], "--min-bandwidth is 'fast'"),
        (["--nodes", "2", "--method", "balanced", "--priority", "memory=2"], "priority is 'memory=2'"),
        (["--nodes", "2", "--method", "balanced", "--priority", "compute=nan"], "priority is 'compute=nan'"),
        (["--nodes", "2", "--method", "compute", "--require", "utk"], "require is 'utk'"),
        (["--nodes", "4", "--method", "compute", "--require", "site=utk"], "Only 3 of 6 nodes have site=utk"),
    ],
)
def test_what_cannot_be_is_one_sentence_on_standard_error_and_exit_code_2(topology, args, words):
    result = run("--topology", topology, *args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_topology_that_is_not_there_is_answered_with_the_shipped_ones():
    result = run("--topology", "nowhere", "--nodes", "2", "--method", "compute")
    assert result.exit_code == 2
    assert "crossbar10" in result.stderr


@pytest.mark.parametrize(
    "content",
    [
        "[" * 20_000,
        "1" * 5000,
        "[]",
        '{"nodes": [0, 1], "links": [{"source": 0, "target": 1, "weight": 1' + "0" * 400 + "}]}",
    ],
)
def test_a_pattern_file_that_cannot_be_read_is_one_sentence(topology, tmp_path, content):
    path = tmp_path / "own.json"
    path.write_text(content)
    result = run("--topology", topology, "--nodes", "2", "--method", "pattern", "--pattern", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(("--pattern is ", "pattern is "))
    assert len(result.stderr) < 500


@pytest.mark.parametrize("option", ["--topology", "--pattern"])
@pytest.mark.parametrize("path", ["/dev/zero", "{tmp}"])
def test_a_device_or_a_folder_is_no_file_to_read(topology, tmp_path, option, path):
    given = {"--topology": topology, "--pattern": "ring"} | {option: path.format(tmp=tmp_path)}
    words = [word for pair in given.items() for word in pair]
    result = run(*words, "--nodes", "3", "--method", "pattern")
    assert result.exit_code == 2
    assert "it is no plain file" in result.stderr


def test_every_pair_names_the_link_that_binds_it(topology):
    answer = told("--topology", topology, "--nodes", 3, "--method", "communication")
    edges = answer["candidates"][0]["edges"]
    assert [edge["link"] for edge in edges] == [
        {"source": "n2", "target": "s"},
        {"source": "n3", "target": "s"},
        {"source": "n3", "target": "s"},
    ]
    assert "the bottleneck; the link n3 - s binds" in run(
        "--topology", topology, "--nodes", 3, "--method", "communication"
    ).output.replace("\n", " ")
