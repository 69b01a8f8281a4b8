"""What jobs may take of the machine: a node's memory and processes, while programs on other nodes go on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed import cgroups, launch, node_limits
from gridportal.testbed.client import Grid
from gridportal.testbed.node_processors import NO_PROCESSORS
from gridportal.testbed.node_sizes import NodeSize
from gridportal.testbed.run_groups import RunLimits
from gridportal.testbed.sandbox.order import Limits
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import House, ended, eventually, need_namespaces
from tests.gridportal.testbed.networks import few_nodes

SMALL = 128 * 2**20
HOG = f"exec {sys.executable} -c 'held = []\nwhile True: held.append(bytearray(2**20))'"
#: It counts without a process of its own: where none is left, bash would try to make one for half a minute.
BOMB = (
    "bomb() { bomb & bomb & sleep 600; }; bomb 2>/dev/null & "
    "until set -- /proc/[0-9]*; (($# >= 95)); do :; done; for _ in {1..200}; do set -- /proc/[0-9]*; done; echo $#"
)


@pytest.fixture(scope="module", params=["root", "user-namespaces", "unshaped"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A Grid whose nodes have 128 MiB and 100 processes."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's own processes would count too")
    need_namespaces()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRIDPORTAL_GRID_MEMORY", str(SMALL))
        patch.setenv("GRIDPORTAL_GRID_PROCESSES", "100")
        home = tmp_path_factory.mktemp("small")
        launch.up(few_nodes(home, 7), home / "grid", mode=request.param, with_parent=True)
        house = House(home, Grid(home / "grid"), request.param)
        if not all(house.grid.status()["isolation"]["limits"].values()):
            house.grid.down()
            pytest.skip("no control groups for memory and processes are writable here")
        yield house
        house.grid.down()


@pytest.mark.grid
@pytest.mark.in_turn("small")
def test_what_takes_all_memory_of_its_node_is_ended_and_the_neighbour_goes_on(small: House) -> None:
    assert small.grid.status()["isolation"]["limits"] == {"memory": SMALL, "processes": 100}
    neighbour, folder = small.start("touch ready; until [ -e go ]; do sleep 0.2; done; echo fine", "ann", ("n2",))
    eventually((folder / "ready").exists, "the neighbour")
    key, _ = small.start(HOG, nodes=("n1",))
    state = ended(small.grid, key)
    assert (state["signal"], state["reason"]) == (
        9,
        "A process of it was ended: jobs may take 0.125 GiB of memory on a node, and this one needed more.",
    )
    (folder / "go").touch()
    assert ended(small.grid, neighbour)["exit_code"] == 0
    assert (folder / "output.log").read_text() == "fine\n"
    assert small.run("echo next") == ["next"]


@pytest.mark.grid
@pytest.mark.in_turn("small")
def test_files_in_memory_count_too_and_go_with_their_run(small: House) -> None:
    key, folder = small.start("head -c 200M /dev/zero > /dev/shm/file; echo written", nodes=("n3",))
    assert "jobs may take 0.125 GiB of memory" in ended(small.grid, key)["reason"]
    assert "written" not in (folder / "output.log").read_text()

    def runs() -> bool:
        again, _ = small.start("head -c 50M /dev/zero > /dev/shm/file", nodes=("n3",))
        return bool(ended(small.grid, again)["exit_code"] == 0)

    eventually(runs, "room for the next run")


@pytest.mark.grid
@pytest.mark.in_turn("small")
def test_a_run_is_held_to_the_memory_of_its_ranks_on_each_node(small: House) -> None:
    """Two ranks on a node have twice as much there; the node's other runs are not held to it."""
    hold = f"{sys.executable} -c 'held = bytearray(45 * 2**20); print(len(held))'"
    assert small.run(hold, nodes=("n6", "n6"), memory_per_rank=40) == [str(45 * 2**20)]
    assert small.run(hold, nodes=("n6",)) == [str(45 * 2**20)]
    key, _ = small.start(hold + "; exit $?", nodes=("n6", "n7", "n7"), memory_per_rank=40)
    state = ended(small.grid, key)
    assert (state["exit_code"], state["cause"]) == (137, "out_of_memory")
    assert state["reason"] == "A process of it was ended: the run needed more memory on a node than it had asked for."
    tops = cgroups.existing(State(small.grid.directory))
    eventually(lambda: not [run for top in tops for run in top.glob("*/@run-*")], "the end of the groups of runs")


@pytest.mark.grid
@pytest.mark.in_turn("small")
def test_a_fork_bomb_fills_its_node_only(small: House) -> None:
    """Also where all jobs run as one user, whose processes are counted together."""
    key, folder = small.start(BOMB + " > count; : > ready; exec sleep 600", nodes=("n4",))
    eventually((folder / "ready").exists, "the bomb")
    text = "for i in $(seq 40); do sleep 5 & done; wait; echo all"
    assert small.run(text, owner="ann", nodes=("n5",)) == ["all"]
    assert int((folder / "count").read_text()) <= 102
    small.grid.cancel(key)
    ended(small.grid, key)


def test_where_nothing_can_be_written_nothing_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "places", lambda _: [(tmp_path / "nothing", 1)])
    assert node_limits.make(State(tmp_path), {"n1": NodeSize()}, Limits()).view() == {"memory": 0, "processes": 0}


@pytest.mark.parametrize(
    ("version", "files"),
    [
        (1, {"memory.limit_in_bytes": SMALL, "memory.memsw.limit_in_bytes": SMALL, "pids.max": 50}),
        (2, {"memory.max": SMALL, "memory.swap.max": 0, "pids.max": 50}),
    ],
)
def test_limits_are_written_as_each_version_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, files: dict[str, int]
) -> None:
    state = State(tmp_path / "state")
    base = tmp_path / "base"
    for node in ("n1", "n2"):
        (base / cgroups.name(state) / node).mkdir(parents=True)
    for folder in (base / cgroups.name(state), base / cgroups.name(state) / "n1", base / cgroups.name(state) / "n2"):
        for file in files:
            (folder / file).touch()
    monkeypatch.setattr(cgroups, "places", lambda _: [(base, version)])
    sizes = {"n1": NodeSize(), "n2": NodeSize(memory=SMALL // 2)}
    limits = node_limits.make(state, sizes, Limits(processes=50, memory=SMALL))
    assert limits.view() == {"memory": SMALL, "processes": 50}
    (group,) = limits.groups["n1"]
    assert {file: int((group / file).read_text()) for file in files} == files
    (smaller,) = limits.groups["n2"]
    memory = next(file for file in files if file.startswith("memory."))
    assert int((smaller / memory).read_text()) == limits.memory_on(["n1", "n2"]) == SMALL // 2
    events = "memory.events" if version == 2 else "memory.oom_control"
    (group / events).write_text("low 0\noom_kill 3\n")
    assert (limits.ended_for_memory(["n1"]), limits.ended_for_memory(["n2"])) == (3, 0)


@pytest.mark.parametrize("version", [1, 2])
def test_the_group_of_a_run_lies_below_its_nodes(tmp_path: Path, version: int) -> None:
    """In version 2 the node's other processes go beside it, since a group with groups below it may have none."""
    node, limit = tmp_path / "n1", "memory.max" if version == 2 else "memory.limit_in_bytes"
    own = node / "@run-1"
    own.mkdir(parents=True)
    (own / limit).touch()
    if version == 2:
        (node / "cgroup.subtree_control").touch()
        (node / "cgroup.procs").write_text("12\n")
    limits = node_limits.NodeLimits(memory_groups={"n1": node})
    memory = RunLimits(limits, NO_PROCESSORS).make({"n1": 3 * 2**20, "n2": 2**20}, {"n1": 1, "n2": 1})
    assert memory.within((tmp_path / "cpu", node)) == (tmp_path / "cpu", own)
    assert (own / limit).read_text() == str(3 * 2**20)
    assert cgroups.inner(node) == (node / "@rest" if version == 2 else node)
    if version == 2:
        assert (node / "cgroup.subtree_control").read_text() == "+memory"
        assert (node / "@rest" / "cgroup.procs").read_text() == "12"
    events, full = (own / "memory.events", "oom 1\n") if version == 2 else (own / "memory.oom_control", "")
    events.write_text("oom_kill 1\n")
    assert (memory.ended(), memory.was_too_little()) == (True, False)
    events.write_text(f"{full}oom_kill 1\n")
    (own / "memory.max_usage_in_bytes").write_text(f"{3 * 2**20}\n") if version == 1 else None
    assert memory.was_too_little()


@pytest.mark.grid
def test_a_grid_in_another_mount_namespace_leaves_an_idle_grids_groups_alone(tmp_path: Path) -> None:
    """It finds nothing where the note on the groups says that this Grid is: as if that had crashed."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root")
    need_namespaces()
    state = State(tmp_path / "grid")
    launch.up(few_nodes(tmp_path), state.root, with_parent=True)
    try:
        tops = cgroups.existing(state)
        if not tops:
            pytest.skip("this machine permits no control groups")
        elsewhere = "from gridportal.testbed import cgroups; cgroups.sweep(lambda state: state.record() is not None)"
        hide = f'mount -t tmpfs none "$1" && exec {sys.executable} -c "{elsewhere}"'
        subprocess.run(["unshare", "--mount", "sh", "-ec", hide, "sh", str(tmp_path)], check=True, timeout=60)
        assert all(len([each for each in top.iterdir() if each.is_dir()]) == 3 + 1 for top in tops)
    finally:
        Grid(state.root).down()
    eventually(lambda: not any(top.exists() for top in tops), "the end of the groups")


def test_the_same_path_in_another_place_is_another_grid(tmp_path: Path) -> None:
    state = State(tmp_path / "grid")
    state.root.mkdir()
    before = cgroups.name(state)
    state.root.rename(tmp_path / "old")
    state.root.mkdir()
    assert cgroups.name(state) != before
