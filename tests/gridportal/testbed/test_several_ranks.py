"""Several ranks on a node of the Grid: their order, the memory that they share, the links that they leave alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gridportal.base.rank_order import hydra_hosts
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from tests.gridportal.testbed.conftest import need_namespaces

pytestmark = pytest.mark.grid
REPOSITORY = str(Path(__file__).parents[3])
BESIDE = Path(sys.executable).parent
#: name -> (compiler, the words that start ranks in the order of the nodes)
KINDS = {
    "mpich": (str(BESIDE / "mpicc"), "mpiexec -n {ranks} -hosts {hosts}"),
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi -n {ranks} --map-by seq --host {hosts}"),
}
LINK = 100.0  # Mbit/s of the nodes of two processors


@dataclass
class Seen:
    """What the ranks of `pingpong.c` told: their hosts, how many share memory with each, the best Mbit/s of pairs."""

    hosts: list[str]
    beside: list[int]
    rates: dict[str, float]


@pytest.fixture(scope="module")
def smp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """smp6."""
    need_namespaces()
    root = tmp_path_factory.mktemp("smp6")
    launch.up("smp6", root, with_parent=True)
    yield Grid(root)
    Grid(root).down()


@pytest.fixture(scope="module", params=KINDS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The launcher of an MPI, and `pingpong.c` compiled with it; `waits.c` beside it."""
    compiler, launcher = KINDS[request.param]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed here")
    folder = tmp_path_factory.mktemp("programs")
    for name in ("pingpong", "waits"):
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run([compiler, "-o", folder / name, source], check=True, timeout=60, cwd=folder)
    return launcher, folder / "pingpong"


def ranks_on(smp: Grid, program: tuple[str, Path], nodes: list[str], hosts: list[str], *pairs: str) -> Seen:
    launcher, built = program
    words = launcher.format(ranks=len(nodes), hosts=",".join(hosts)).split()
    (done,) = smp.run(nodes, [*words, str(built), *pairs])
    assert done["exit_code"] == 0, done["output"]
    ranks = re.findall(r"rank (\d+) on (\S+) shares memory with (\d+)", done["output"])
    assert [int(rank) for rank, _, _ in ranks] == list(range(len(nodes)))
    rates: dict[str, float] = {}
    for one, other, rate in re.findall(r"from (\d+) to (\d+): (\S+)", done["output"]):
        rates[f"{one}-{other}"] = max(float(rate), rates.get(f"{one}-{other}", 0.0))
    return Seen([host for _, host, _ in ranks], [int(count) for _, _, count in ranks], rates)


def bytes_sent(smp: Grid, node: str) -> int:
    """Over its link so far."""
    (done,) = smp.run([node], ["cat", "/sys/class/net/eth0/statistics/tx_bytes"])
    return int(done["output"])


def test_the_self_test_looks_at_messages_inside_a_node(smp: Grid) -> None:
    test = smp.status()["self_test"]
    assert test["state"] == "passed", test
    assert test["inside"]["node"] == "duo1"
    assert test["inside"]["measured"] > LINK * 1e6
    assert test["inside"]["crossed"] < test["inside"]["sent"] / 10


def test_messages_inside_a_node_go_by_memory_and_between_nodes_over_the_link(
    smp: Grid, program: tuple[str, Path]
) -> None:
    before = bytes_sent(smp, "duo2")
    inside = ranks_on(smp, program, ["duo2", "duo2"], ["duo2", "duo2"], *10 * ["0-1"])
    assert bytes_sent(smp, "duo2") - before < 1_000_000  # of 40 MB of messages
    assert inside.beside == [2, 2]
    assert inside.rates["0-1"] > 2 * LINK
    across = ranks_on(smp, program, ["duo1", "duo3", "duo3"], ["duo1", "duo3", "duo3"], "0-1", "2-0")
    assert across.beside == [1, 2, 2]
    assert all(0 < rate < 1.3 * LINK for rate in across.rates.values())


@pytest.mark.parametrize(
    ("nodes", "beside"),
    [
        ("duo1 duo2 duo1 duo2", [2, 2, 2, 2]),
        ("quad1 quad1 quad1 duo1", [3, 3, 3, 1]),
        ("duo3 quad2 duo1 duo2 duo3 quad2 duo1 duo2", [2] * 8),
    ],
    ids=["interleaved", "uneven", "8 on 4"],
)
def test_ranks_keep_their_order_and_know_who_is_on_their_node(
    smp: Grid, program: tuple[str, Path], nodes: str, beside: list[int]
) -> None:
    order = nodes.split()
    hosts = order if "openmpi" in program[0] else hydra_hosts(order)
    seen = ranks_on(smp, program, order, hosts)
    assert (seen.hosts, seen.beside) == (order, beside)


def test_a_master_receives_from_ranks_inside_and_outside_of_its_node(smp: Grid) -> None:
    nodes = ["quad1", "quad1", "quad1", "duo1", "duo1"]
    for size in (8, 200_000):
        argv = ["mpiexec", "-n", "5", sys.executable, "-m", "tests.gridportal.testbed.any_source", str(size)]
        (done,) = smp.run(nodes, argv, cwd=REPOSITORY)
        assert (done["exit_code"], done["output"].split()) == (0, ["48"]), done


def test_a_command_runs_once_for_each_time_that_its_node_is_named(smp: Grid) -> None:
    done = smp.run(["duo1", "duo2", "duo1"], ["hostname"])
    assert [(each["node"], each["output"].strip()) for each in done] == [(n, n) for n in ("duo1", "duo2", "duo1")]


def test_ranks_that_wait_for_a_message_of_another_node_leave_the_processor(
    smp: Grid, program: tuple[str, Path]
) -> None:
    """Two seconds long; who looks for the message over and over uses as much of them as the node has."""
    launcher, built = program
    nodes = sorted(node["id"] for node in smp.status()["nodes"])[:3]
    words = launcher.format(ranks=3, hosts=",".join(nodes)).split()
    (done,) = smp.run(nodes, [*words, str(built.with_name("waits"))])
    assert done["exit_code"] == 0, done["output"]
    used = [float(seconds) for seconds in re.findall(r"used (\S+)", done["output"])]
    assert len(used) == 2
    assert max(used) < 0.5, done["output"]
