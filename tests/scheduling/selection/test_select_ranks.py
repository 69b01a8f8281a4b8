"""`gridportal select` for ranks on slots, with pins, a specification and a scaling table."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gridportal.base.errors import InputError
from gridportal.cli import app
from gridportal.network.topology import Node, Topology
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.selection.core.slots.node_slots import check_one_rank_fits

RUNNER = CliRunner()


@pytest.fixture
def topology(tmp_path) -> str:
    """Five nodes of 4, 4, 2, 2 and an unknown number of processors on one switch, the last two with other memory."""
    labels = [{"cpus": 4, "mem_gb": 16}, {"cpus": 4, "mem_gb": 8}, {"cpus": 2, "mem_gb": 64}, {"cpus": 2}, {}]
    nodes = [{"id": f"n{i}", "cpu": 1 - i / 10, **each} for i, each in enumerate(labels)]
    links = [{"source": f"n{i}", "target": "s", "capacity": 1e9, "bandwidth": (9 - i) * 1e8} for i in range(5)]
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"nodes": [*nodes, {"id": "s", "kind": "network"}], "links": links}))
    return str(path)


def choose(topology: str, *args: str):
    return RUNNER.invoke(app, ["select", "--topology", topology, *args])


def nodes_of(topology: str, *args: str) -> list[str]:
    result = choose(topology, *args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["nodes"]


def test_a_node_stands_once_for_each_of_its_ranks(topology):
    assert nodes_of(topology, "--ranks", "8", "--method", "communication") == ["n0"] * 4 + ["n1"] * 4
    assert nodes_of(topology, "--ranks", "4", "--method", "communication") == ["n0"] * 4


def test_nodes_alone_means_one_rank_on_each(topology):
    assert sorted(nodes_of(topology, "--nodes", "5", "--method", "compute")) == ["n0", "n1", "n2", "n3", "n4"]


def test_ranks_a_node_are_counted_as_sbatch_does(topology):
    chosen = nodes_of(topology, "--nodes", "2", "--ranks-per-node", "2", "--method", "communication")
    assert sorted(chosen) == ["n0", "n0", "n1", "n1"]
    at_most = nodes_of(topology, "--ranks", "6", "--ranks-per-node", "2", "--method", "communication")
    assert sorted({name: at_most.count(name) for name in at_most}.items()) == [("n0", 2), ("n1", 2), ("n2", 2)]


def test_threads_and_memory_of_a_rank_take_slots(topology):
    chosen = nodes_of(topology, "--ranks", "3", "--cpus-per-rank", "2", "--method", "communication")
    assert max(chosen.count(name) for name in chosen) == 2
    chosen = nodes_of(topology, "--ranks", "4", "--memory-per-rank", "8G", "--method", "communication")
    assert (chosen.count("n0"), chosen.count("n1")) <= (2, 1)


def test_ranks_are_pinned_and_nodes_excluded(topology):
    args = ("--ranks", "4", "--method", "communication", "--pin", "0=n3", "--exclude", "n0")
    chosen = nodes_of(topology, *args)
    assert chosen[0] == "n3"
    assert "n0" not in chosen


def test_a_specification_says_groups_links_and_pins(topology, tmp_path):
    spec = tmp_path / "spec.json"
    groups = [{"name": "server", "count": 1, "most": "memory"}, {"name": "clients", "count": 3}]
    links = [{"source": "server", "target": "clients"}]
    spec.write_text(json.dumps({"groups": groups, "links": links, "exclude": ["n1"]}))
    result = choose(topology, "--spec", str(spec), "--method", "pattern", "--json")
    answer = json.loads(result.stdout)
    assert (answer["nodes"][0], len(answer["nodes"]), answer["pattern"]) == ("n2", 4, "specification")
    assert all(edge["ranks"][0] == 0 for edge in answer["candidates"][0]["edges"]), "only the server talks"
    assert "n1" not in answer["nodes"]
    pinned = choose(topology, "--spec", str(spec), "--method", "pattern", "--pin", "clients=n0", "--json")
    assert json.loads(pinned.stdout)["nodes"] == ["n2", "n0", "n0", "n0"]
    unasked = choose(topology, "--spec", str(spec), "--method", "communication")
    assert (unasked.exit_code, unasked.stderr.strip()) == (
        2,
        "--spec is 'links'; accepted is the method pattern or balanced with links.",
    )
    twice = choose(topology, "--spec", str(spec), "--method", "pattern", "--pattern", "ring")
    assert "accepted is nothing, since the links of the specification say who talks" in twice.stderr


def test_balanced_goes_by_the_pattern_without_flows(topology):
    result = choose(topology, "--nodes", "4", "--method", "balanced", "--pattern", "ring", "--json")
    answer = json.loads(result.stdout)
    assert (answer["pattern"], len(answer["candidates"][0]["edges"])) == ("ring", 4)


def test_the_number_of_ranks_is_chosen_with_the_nodes(topology, tmp_path):
    table = tmp_path / "scaling.json"
    seconds = {"1": 100, "2": 52, "4": 30, "8": {"compute": 20, "communicate": 60}}
    table.write_text(json.dumps({"ranks": seconds, "bandwidth": 8e8}))
    args = ("--scaling", str(table), "--ranks", "1..8", "--method", "communication")
    answer = json.loads(choose(topology, *args, "--json").stdout)
    assert [point["ranks"] for point in answer["scaling"]["points"]] == [1, 2, 4, 8]
    assert (answer["scaling"]["chosen"], len(answer["nodes"])) == (4, 4)
    shown = choose(topology, *args)
    assert "How many ranks and nodes" in shown.stdout
    assert "chosen" in shown.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "--ranks is empty; accepted is a number of ranks, or of --nodes"),
        (("--ranks", "2..4"), "--ranks is '2..4'; accepted is one number, or with --scaling several"),
        (("--ranks", "4", "--pin", "0"), "--pin is 0; accepted is RANK=NODE or GROUP=NODE"),
        (("--ranks", "4", "--pin", "9=n0"), "pins is 9"),
        (
            ("--ranks", "4", "--pin", "server=n0"),
            "pins is 'server'; accepted is the number of a rank, such as 0; the job has no groups of ranks",
        ),
        (("--ranks", "4", "--pin", "0=x"), "pins.0 is 'x'; accepted is the id of a compute node"),
        (("--ranks", "4", "--memory-per-rank", "much"), "--memory-per-rank is 'much'; accepted is MB above 0"),
        (("--ranks", "99"), "has only 5 compute nodes (room for 13 ranks), 99 ranks were asked for"),
        (
            ("--ranks", "6", "--nodes", "1"),
            "The topology has 5 compute nodes (room for 13 ranks), 6 ranks on 1 node were asked for: a node has room "
            "for 4 of them at most, so that they take 2 nodes.",
        ),
        (("--ranks", "2", "--nodes", "4"), "--nodes is 4; accepted is at most 2"),
        (
            ("--ranks", "4", "--gres-per-rank", "gpu:50"),
            "--gres-per-rank is 'gpu:50'; accepted is nothing of gpu: no node of net has a label gres with it",
        ),
        (
            ("--nodes", "1", "--gres-per-rank", "gpu:1,nic,gpu:2"),
            "--gres-per-rank is 'gpu:1,nic,gpu:2'; accepted is each kind once; gpu stands there 2 times",
        ),
        (("--nodes", "2", "--flows", "--require", "latency<0"), "latency<0 s between all that talk"),
        (("--nodes", "2", "--require", "latency<0"), "No 2 ranks have latency<0 s between all that talk"),
    ],
)
def test_what_cannot_be_is_one_sentence(topology, args, said):
    result = choose(topology, "--method", "communication", *args)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_gres_of_a_rank_are_those_of_the_label_alone(topology, tmp_path):
    document = json.loads((tmp_path / "net.json").read_text())
    document["nodes"][2]["gres"] = "gpu:a100:2"
    (tmp_path / "net.json").write_text(json.dumps(document))
    args = ("--method", "compute", "--gres-per-rank")
    assert nodes_of(topology, "--ranks", "2", *args, "gpu:1") == ["n2", "n2"]
    more = choose(topology, "--ranks", "2", *args, "gpu:a100:3")
    assert "accepted is at most gpu:a100:2, the most that a node of net has" in " ".join(more.output.split())


@pytest.mark.parametrize(
    ("pins", "typed", "said"),
    [
        ({"0": "n1", "a": "n2"}, (), "Rank 0 is pinned to n1, and its group a to n2: no node is both."),
        ({"0": "n1"}, ("--pin", "0=n2"), "--pin is '0=n2'; accepted is 0=n1, as the file of --spec has it"),
        ({"a": ["n1", "n2"]}, ("--pin", "a=n2,n3"), "--pin is 'a=n2,n3'; accepted is a=n1,n2, as the file"),
    ],
)
def test_pins_that_contradict_each_other_are_named(topology, tmp_path, pins, typed, said):
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"groups": [{"name": "a", "count": 2}, {"name": "b", "count": 2}], "pins": pins}))
    result = choose(topology, "--spec", str(spec), "--method", "communication", *typed)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_pin_may_take_some_of_the_nodes_of_the_files_pin(topology, tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"pins": {"0": ["n1", "n2"]}}))
    args = ("--spec", str(spec), "--ranks", "2", "--method", "communication", "--pin", "0=n2")
    assert nodes_of(topology, *args)[0] == "n2"


def test_a_key_twice_in_a_specification_is_refused(topology, tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text('{"pins": {"0": "n1", "0": "n2"}}')
    result = choose(topology, "--spec", str(spec), "--ranks", "2", "--method", "communication")
    assert result.exit_code == 2
    assert "the key '0' stands twice in one object" in " ".join(result.output.split())


def test_pairs_of_ranks_on_the_same_two_nodes_are_one_line(topology):
    shown = choose(topology, "--ranks", "8", "--nodes", "2", "--method", "communication").output
    lines = [line for line in shown.splitlines() if "n0 - n1" in line]
    assert len(lines) == 1
    assert "0-4 and 15 more" in lines[0]
    assert "the bottleneck" in lines[0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            RankRequest(ranks=2, cpus_per_rank=5),
            "cpus_per_rank is 5; accepted is at most 4, the most that a node of net has",
        ),
        (
            RankRequest(ranks=2, memory_per_rank=9000),
            "memory_per_rank is '9000M'; accepted is at most 8192M, the most that a node of net has",
        ),
    ],
)
def test_a_rank_that_fits_on_no_node_is_told_by_what_it_lacks(asked, said):
    nodes = (Node("a", labels={"cpus": "4", "mem_gb": "8"}), Node("b", labels={"cpus": "2", "mem_gb": "4"}))
    with pytest.raises(InputError, match=said):
        check_one_rank_fits(Topology("net", False, "links", nodes, ()), asked)
    without_labels = Topology("net", False, "links", (*nodes, Node("c")), ())
    check_one_rank_fits(without_labels, asked)


@pytest.mark.parametrize(("network", "is_told"), [("cmu8", True), ("cactus", False)])
def test_a_latency_that_nobody_knows_is_told(network: str, is_told: bool) -> None:
    result = choose(network, "--nodes", "2", "--method", "communication", "--require", "latency<=10")
    assert result.exit_code == 0
    assert ("each counts as 0 s: latency<=10 decides nothing." in " ".join(result.output.split())) == is_told
