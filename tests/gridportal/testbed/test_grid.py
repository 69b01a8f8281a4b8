"""A real Grid: nodes with names of their own, and MPI that gets the shaped rate and no more."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed.client import Grid
from tests.gridportal.testbed.conftest import ended, eventually
from tests.gridportal.testbed.networks import chain, crossbar

pytestmark = pytest.mark.grid
REPOSITORY = str(Path(__file__).parents[3])
HOSTS = (
    "from mpi4py import MPI; import socket; c = MPI.COMM_WORLD; n = c.gather(socket.gethostname()); c.rank or print(n)"
)


def mpi_rates(grid: Grid, a: str, b: str, forth: float, back: float) -> list[float]:
    """Mbit/s from a to b and back that an MPI ping-pong had."""
    argv = ["mpiexec", "-n", "2", sys.executable, "-m", "gridportal.testbed.pingpong"]
    done = grid.run([a, b], [*argv, str(forth * 1e6), str(back * 1e6)], cwd=REPOSITORY)[0]
    assert done["exit_code"] == 0, done["output"]
    return [rate / 1e6 for rate in json.loads(done["output"])["rates"]]


def assert_sees(measure: Callable[[], list[float]], expected: list[float], tolerance: float = 0.15) -> None:
    """A busy machine looks slow: one of four tries must be near. A leak is near in none."""
    seen = []
    for _ in range(4):
        seen.append(measure())
        if all(abs(rate / want - 1) <= tolerance for rate, want in zip(seen[-1], expected, strict=True)):
            return
    raise AssertionError(f"expected {expected} Mbit/s, saw {seen}")


def test_every_node_has_its_own_name_and_address(grid: Grid) -> None:
    done = grid.run(["n1", "n10"], ["sh", "-c", "hostname; hostname -i"])
    assert [each["output"].split() for each in done] == [["n1", "10.77.0.1"], ["n10", "10.77.0.10"]]


def test_every_node_has_its_own_scratch_and_shared_memory(grid: Grid) -> None:
    script = "echo $GRIDPORTAL_NODE > $GRIDPORTAL_SCRATCH/who; touch /dev/shm/$GRIDPORTAL_NODE; sleep 0.3;"
    script += "cat $GRIDPORTAL_SCRATCH/who; ls /dev/shm"
    done = grid.run(["n1", "n2"], ["sh", "-c", script])
    assert [each["output"].split() for each in done] == [["n1", "n1"], ["n2", "n2"]]


def test_the_grid_passed_its_test_of_itself(grid: Grid) -> None:
    assert grid.status()["self_test"]["state"] == "passed"
    assert grid.status()["warning"] is None


def test_mpi_ranks_are_placed_in_the_order_of_the_nodes(grid: Grid, tmp_path: Path) -> None:
    nodes = ["n3", "n7", "n5", "n9"]
    grid.submit("order", f'mpiexec -n 4 {sys.executable} -c "{HOSTS}"\n', nodes, str(tmp_path))
    assert ended(grid, "order")["exit_code"] == 0
    assert (tmp_path / "output.log").read_text().strip() == str(nodes)


def test_an_explicit_host_list_has_its_way(grid: Grid) -> None:
    argv = ["mpiexec", "-n", "2", "-hosts", "n8,n6", sys.executable, "-c", HOSTS]
    assert grid.run(["n6", "n8"], argv)[0]["output"].strip() == "['n8', 'n6']"


@pytest.mark.parametrize("size", [8, 200_000, *(pytest.param(size, marks=pytest.mark.slow) for size in (0, 10_000))])
def test_a_master_receives_from_whoever_is_first(grid: Grid, size: int) -> None:
    argv = ["mpiexec", "-n", "4", sys.executable, "-m", "tests.gridportal.testbed.any_source", str(size)]
    done = grid.run(["n1", "n2", "n3", "n4"], argv, cwd=REPOSITORY)[0]
    assert (done["exit_code"], done["output"].split()) == (0, ["36"]), done


def test_cancel_ends_all_ranks_on_all_nodes(grid: Grid, tmp_path: Path) -> None:
    nodes = ["n1", "n4", "n8"]
    grid.submit("spin", "mpiexec -n 3 sh -c 'touch up-$PMI_RANK; while :; do :; done'\n", nodes, str(tmp_path))
    eventually(lambda: len(list(tmp_path.glob("up-*"))) == 3, "three ranks")
    grid.cancel("spin")
    assert ended(grid, "spin")["reason"] == "cancelled"
    pids = {node["id"]: node["pids"] for node in grid.status()["nodes"]}
    assert [pids[node] for node in nodes] == [0, 0, 0]


def test_load_lowers_the_available_processor_of_its_node_alone(grid: Grid) -> None:
    grid.load(["n2"], processes=2)

    def cpu() -> dict[str, float]:
        return {node["id"]: node["cpu"] for node in grid.node_load()}

    eventually(lambda: cpu()["n2"] < 0.45, "the load of n2")
    eventually(lambda: cpu()["n9"] > 0.9, "the calm of n9, after whatever ran there before")
    assert grid.status()["load"] == {"n2": 2}
    assert grid.load(stop=True) == {}
    eventually(lambda: cpu()["n2"] > 0.8, "the end of the load")


def test_a_probe_measures_every_ordered_pair_in_nine_rounds(grid: Grid) -> None:
    def probe() -> list[float]:
        report = grid.probe()
        assert report["rounds"] == 9
        assert len({(pair["source"], pair["target"]) for pair in report["pairs"]}) == 90
        good = [pair for pair in report["pairs"] if 90e6 <= pair["bandwidth"] <= 110e6]
        return [float(len(good))]

    assert_sees(probe, [90.0], tolerance=0.1)


def test_traffic_is_seen_by_probes_and_goes_when_stopped(grid: Grid) -> None:
    grid.traffic(seed=5, streams=120, time_scale=0.001)
    shaped = {(link["source"], link["target"]): link["bandwidth"] for link in grid.topology()["links"]}
    assert min(shaped.values()) < 40e6
    assert all(10e6 <= rate <= 100e6 for rate in shaped.values())

    def share_near() -> list[float]:
        pairs = grid.probe(["n1", "n2", "n3", "n4"])["pairs"]
        near = [abs(pair["bandwidth"] / shaped[pair["source"], pair["target"]] - 1) < 0.1 for pair in pairs]
        return [sum(near) / len(near)]

    assert_sees(share_near, [1.0], tolerance=0.1)
    assert grid.status()["traffic"]["seed"] == 5
    grid.traffic(stop=True)
    assert {link["bandwidth"] for link in grid.topology()["links"]} == {100e6}


def test_mpi_sees_the_rate_of_each_direction_of_a_pair(up: Callable[[dict[str, Any]], Grid]) -> None:
    rates = {("a", "b"): 155, ("b", "a"): 25, ("a", "c"): 10, ("c", "a"): 60, ("b", "c"): 100, ("c", "b"): 40}
    grid = up(crossbar({pair: float(rate) for pair, rate in rates.items()}))
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        expected = [float(rates[a, b]), float(rates[b, a])]
        assert_sees(lambda a=a, b=b, e=expected: mpi_rates(grid, a, b, *e), expected)


def test_mpi_sees_the_narrowest_link_of_its_way_through_a_switch_and_a_router(
    up: Callable[[dict[str, Any]], Grid],
) -> None:
    grid = up(chain())
    assert_sees(lambda: mpi_rates(grid, "a", "b", 20, 20), [20, 20])
    assert_sees(lambda: mpi_rates(grid, "c", "a", 40, 40), [40, 40])
    pairs = {(p["source"], p["target"]): p["bandwidth"] for p in grid.probe()["pairs"]}
    assert set(pairs) == {(a, b) for a in "abc" for b in "abc" if a != b}


def test_a_slow_node_gets_its_share_of_the_processor(up: Callable[[dict[str, Any]], Grid]) -> None:
    document = crossbar({("a", "b"): 100.0, ("b", "a"): 100.0})
    document["nodes"] = [{"id": "a", "speed": 0.3}, {"id": "b"}]
    grid = up(document)
    if not grid.status()["cgroups"]:
        pytest.skip("no cpu control group is writable here")
    work = "import time; b = time.time()\nwhile time.time() - b < 1.0: pass\nprint(time.process_time())"
    for first in ("a", "b"):
        argv = ["mpiexec", "-n", "1", "-hosts", "a", sys.executable, "-c", work]
        assert float(grid.run([first], argv)[0]["output"]) < 0.6


def test_compute_nodes_linked_in_a_triangle_reach_each_other_directly(up: Callable[[dict[str, Any]], Grid]) -> None:
    rates = {("b", "a"): 50e6, ("b", "c"): 30e6, ("a", "c"): 20e6}
    links = [{"source": a, "target": b, "capacity": rate} for (a, b), rate in rates.items()]
    grid = up({"nodes": [{"id": n} for n in "abc"], "links": links})
    for (a, b), rate in rates.items():
        assert_sees(lambda a=a, b=b, r=rate / 1e6: mpi_rates(grid, a, b, r, r), [rate / 1e6] * 2)
    grid.traffic(seed=1, streams=4, time_scale=0.001)
    grid.traffic(stop=True)
    assert {link["bandwidth"] for link in grid.topology()["links"]} == set(rates.values())


def test_nothing_of_the_grid_is_seen_in_the_hosts_network(grid: Grid) -> None:
    assert grid.status()["nodes"]
    assert not [name for name in os.listdir("/sys/class/net") if name.startswith(("br0", "p1", "p3"))]
