"""A node of several processors: what runs there gets as many as it has ranks, however idle the others are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed import cgroups
from gridportal.testbed.client import Grid
from gridportal.testbed.node_limits import NodeLimits
from gridportal.testbed.node_processors import NodeProcessors
from gridportal.testbed.run_groups import RunLimits
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import House, eventually

SPENT = "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass\nprint(time.process_time())"


def two_nodes() -> dict[str, Any]:
    """Of two processors each, one node half as fast; so processors are parts of a core."""
    speeds = {"n1": 1.0, "n2": 0.5}
    return {
        "directed": False,
        "graph": {"name": "two", "kind": "links"},
        "nodes": [*({"id": name, "cpus": 2, "speed": speed} for name, speed in speeds.items())],
        "links": [{"source": "n1", "target": "n2", "capacity": 100e6}],
    }


def cores(group: Path) -> float:
    """The most that what is in a group may take."""
    if (group / "cpu.max").exists():
        quota, period = (group / "cpu.max").read_text().split()
    else:
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
    return float(quota) / float(period)


@pytest.mark.grid
def test_runs_and_busy_processes_have_as_many_processors_as_ranks(up: Callable[..., Grid], tmp_path: Path) -> None:
    grid = up(two_nodes())
    if not grid.status()["cgroups"]:
        pytest.skip("no cpu control group is writable here")
    house = House(tmp_path, grid, "root")
    node = next(top / "n1" for top in cgroups.possible(State(grid.directory)) if (top / "n1").is_dir())
    eventually(lambda: cores(node) > 0, "the quota of the node")
    _, folder = house.start("touch ready; until [ -e go ]; do sleep 0.2; done", nodes=("n1", "n1", "n2"))
    eventually((folder / "ready").exists, "the run")
    assert [cores(each) for each in node.glob("@run-*")] == pytest.approx([cores(node)], rel=0.01)
    (folder / "go").touch()
    eventually(lambda: not list(node.glob("@run-*")), "the end of the group of the run")
    (spent,) = map(float, house.run(f"exec {sys.executable} -c '{SPENT}'"))
    assert 0 < spent < 2 * cores(node) / 2 * 1.25 + 0.1  # of two seconds, on one processor of two
    grid.load(["n1"], 1)
    grid.load(["n1"], 3)
    assert sorted(cores(each) / cores(node) for each in node.glob("@load-*")) == pytest.approx([0.5, 1.0], rel=0.01)
    grid.load(stop=True)
    eventually(lambda: not list(node.glob("@load-*")), "the end of the groups of busy processes")


def made(node: Path, name: str, version: int) -> Path:
    """The folder of a group below a node's as the kernel of this version makes it."""
    own = node / name
    own.mkdir(parents=True)
    if version == 2:
        (own / "cpu.max").touch()
        (own / "memory.max").touch()
        (node / "cgroup.subtree_control").touch()
        (node / "cgroup.procs").write_text("12\n")
    return own


@pytest.mark.parametrize(("version", "weight"), [(1, ("cpu.shares", 3072)), (2, ("cpu.weight", 300))])
def test_quota_and_weight_are_those_of_as_many_processors(
    tmp_path: Path, version: int, weight: tuple[str, int]
) -> None:
    own = made(tmp_path / "n1", "@run-1", version)
    processors = NodeProcessors({"n1": own.parent}, {"n1": 4}, {"n1": 0.25})
    limits = NodeLimits(memory_groups={"n1": own.parent} if version == 2 else {})
    run = RunLimits(limits, processors).make({"n1": 2**20}, {"n1": 3, "elsewhere": 1})
    assert run.within((tmp_path / "pids", own.parent)) == (tmp_path / "pids", own)
    assert run.memory == ({own} if version == 2 else frozenset())
    assert (own / weight[0]).read_text() == str(weight[1])
    if version == 2:
        assert (own / "cpu.max").read_text() == "15000 20000"
        assert (own / "memory.max").read_text() == str(2**20)
    else:
        assert (own / "cpu.cfs_quota_us").read_text() == "15000"


@pytest.mark.parametrize(("cpus", "part"), [(1, 0.5), (4, 1.0)])
def test_one_processor_and_whole_cores_need_no_group(tmp_path: Path, cpus: int, part: float) -> None:
    processors = NodeProcessors({"n1": tmp_path}, {"n1": cpus}, {"n1": part})
    assert processors.own_group("n1", "@run-1", 1) is None
    assert not list(tmp_path.iterdir())


def test_threads_of_groups_below_a_nodes_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "@run-1").mkdir()
    (tmp_path / "tasks").write_text("1\n2\n")
    (tmp_path / "@run-1" / "tasks").write_text("3\n")
    assert sorted(cgroups.tasks(tmp_path)) == ["1", "2", "3"]
