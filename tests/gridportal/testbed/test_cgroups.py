"""Shares of the processor: relative speeds that hold when every node is busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.testbed import cgroups, kernel, launch
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually, need_namespaces
from tests.gridportal.testbed.networks import few_nodes

BUSY = "import time; end = time.time() + 2\nwhile time.time() < end: pass\nprint(time.process_time())"


@given(st.lists(st.tuples(st.floats(0.01, 8.0), st.integers(1, 8)), min_size=1, max_size=12), st.integers(1, 64))
def test_shares_never_add_up_to_more_than_the_machine_where_speeds_differ(
    nodes: list[tuple[float, int]], cores: int
) -> None:
    speeds = {f"n{i}": speed for i, (speed, _) in enumerate(nodes)}
    cpus = {f"n{i}": count for i, (_, count) in enumerate(nodes)}
    shares = cgroups.shares(speeds, cpus, cores)
    assert all(0 < share <= cpus[name] for name, share in shares.items())
    if len(set(speeds.values())) > 1:
        assert sum(shares.values()) <= cores + 1e-9


def test_relative_speeds_are_kept_and_a_machine_with_cores_for_all_takes_nothing_away() -> None:
    speeds = {"msc": 1.0, "opus": 450 / 933}
    few, many = (cgroups.shares(speeds, {"msc": 1, "opus": 1}, cores) for cores in (1, 8))
    assert few["opus"] / few["msc"] == pytest.approx(450 / 933)
    assert many == speeds


@pytest.mark.grid
def test_a_node_has_one_processor_however_many_the_machine_has(tmp_path: Path) -> None:
    need_namespaces()
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the machine itself has one processor only")
    launch.up("cmu8", tmp_path, with_parent=True)
    grid = Grid(tmp_path)
    try:
        if not grid.status()["cgroups"]:
            pytest.skip("no cpu control group is writable here")
        grid.load(["m-1"], 1)
        (spent,) = (float(each["output"]) for each in grid.run(["m-1"], [sys.executable, "-c", BUSY]))
        assert 0 < spent < 1.5  # seconds of two: the other process has the rest; beside it were a whole core free
    finally:
        grid.down()


@pytest.mark.grid
def test_busy_processes_of_the_two_grads_clusters_get_933_to_450_at_most(tmp_path: Path) -> None:
    """How much they get of it depends on what else this machine does: no more than their parts of it is what holds."""
    need_namespaces()
    launch.up("grads", tmp_path, with_parent=True)
    grid = Grid(tmp_path)
    try:
        if not grid.status()["cgroups"]:
            pytest.skip("no cpu control group is writable here")
        parts = [part_of_a_processor(tmp_path, node) for node in ("msc1", "opus1")]
        assert parts[1] / parts[0] == pytest.approx(450 / 933, abs=0.01)
        spent = [float(each["output"]) for each in grid.run(["msc1", "opus1"], [sys.executable, "-c", BUSY])]
        for seconds, part in zip(spent, parts, strict=True):
            assert 0 < seconds < 2 * part * 1.25 + 0.1  # of two, which need not begin where a period does
    finally:
        grid.down()


def part_of_a_processor(root: Path, node: str) -> float:
    group = next(top / node for top in cgroups.possible(State(root)) if top.is_dir())
    if (group / "cpu.max").exists():
        quota, period = (group / "cpu.max").read_text().split()
    else:
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
    return float(quota) / float(period)


@contextmanager
def ordinary(count: int) -> Iterator[list[int]]:
    """The ids of so many busy processes outside any Grid, no nicer than those within where that is allowed.

    Each in a session of its own: the kernel may weigh a session as one (autogroup).
    """
    argv = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(argv, start_new_session=True) for _ in range(count)]
    try:
        for each in busy if os.geteuid() == 0 else []:
            os.setpriority(os.PRIO_PROCESS, each.pid, 0)
        yield [each.pid for each in busy]
    finally:
        for each in busy:
            each.kill()
            each.wait(timeout=60)


def ticks(pids: list[int]) -> int:
    """What these living processes have used of the processor."""
    fields = [kernel.stat_fields(pid) for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields if each is not None)


@pytest.mark.grid
def test_a_favoured_grid_gets_more_of_a_processor_than_as_many_ordinary_processes(tmp_path: Path) -> None:
    need_namespaces()
    root = tmp_path / "grid"
    launch.up(few_nodes(tmp_path), root, with_parent=True)
    grid, nodes = Grid(root), ["n1", "n2", "n3"]
    groups = [top / node for top in cgroups.existing(State(root)) for node in nodes]
    try:
        if not groups:
            pytest.skip("no cpu control group is writable here")
        before = members(groups)
        grid.load(nodes, processes=1)
        inside = list(eventually(lambda: len(new := members(groups) - before) == 3 and new, "the busy processes"))
        cgroups.favour(State(root), 20)
        with ordinary(3) as outside:
            for pid in (*inside, *outside):
                os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})
            begun, second = (ticks(inside), ticks(outside)), os.sysconf("SC_CLK_TCK")
            eventually(lambda: ticks(inside) + ticks(outside) > sum(begun) + second, "a second's work")
            favoured, others = ticks(inside) - begun[0], ticks(outside) - begun[1]
        assert favoured > 2 * others
    finally:
        grid.down()


def members(groups: list[Path]) -> set[int]:
    """Every process in these control groups."""
    return {int(pid) for group in groups for pid in (group / "cgroup.procs").read_text().split()}


@pytest.mark.parametrize(("version", "file", "weight"), [(1, "cpu.shares", 20 * 1024), (2, "cpu.weight", 20 * 100)])
def test_weights_are_written_as_each_version_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, file: str, weight: int
) -> None:
    monkeypatch.setattr(cgroups, "_hierarchies", lambda: [(tmp_path, version)])
    state = State(tmp_path / "state")
    (top,) = cgroups.possible(state)
    cgroups.favour(state, 20)
    assert not top.exists(), "a Grid without groups has nothing to favour"
    top.mkdir()
    (top / ("cpu.max" if version == 2 else "cpu.cfs_quota_us")).touch()
    cgroups.favour(state, 20)
    assert (top / file).read_text() == str(weight)


def tree(top: Path, groups: dict[str, tuple[str, bool]]) -> None:
    """A made-up hierarchy of version 2: by path the controllers that a group has, and whether processes are in it."""
    for path, (controllers, busy) in groups.items():
        group = top / path
        group.mkdir(parents=True, exist_ok=True)
        (group / "cgroup.controllers").write_text(controllers)
        (group / "cgroup.procs").write_text("1\n" if busy else "")
        if path:  # the root of all has none
            (group / "cgroup.type").write_text("domain\n")


@pytest.mark.parametrize(
    ("own", "groups", "place"),
    [
        ("s/p", {"": ("cpu memory pids", True), "s": ("memory pids", False), "s/p": ("memory pids", True)}, ""),
        ("s/p", {"": ("cpu memory pids", True), "s": ("cpu memory pids", False), "s/p": ("", True)}, "s"),
        ("s/p", {"": ("memory", False), "s": ("memory", True), "s/p": ("memory", False)}, "s/p"),
        ("", {"": ("hugetlb", True)}, ""),
    ],
)
def test_groups_of_version_2_lie_where_no_processes_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, groups: dict[str, tuple[str, bool]], place: str
) -> None:
    """The nearest such place above our own where most controllers are."""
    tree(tmp_path, groups)
    monkeypatch.setattr(cgroups, "_mounted", lambda _: [(tmp_path, tmp_path / own, 2)])
    assert cgroups.places("memory") == [(tmp_path / place, 2)]
    assert cgroups.limiting("memory")[-1] == tmp_path


IN_A_LEAF = """
import os, sys
from pathlib import Path
from gridportal.testbed import cgroups
from gridportal.testbed.state import State
leaf, controller, state = Path(sys.argv[1]), sys.argv[2], State(sys.argv[3])
(leaf / "cgroup.procs").write_text(str(os.getpid()))
cgroups._NEEDED = frozenset((controller,))
(base,) = (base for base, version in cgroups.places(controller) if version == 2)
groups = cgroups.fill(base, 2, controller, state, ["n1", "n2"])
cgroups.join(groups["n1"])
print(base, Path("/proc/self/cgroup").read_text().split("0::")[1].strip())
(leaf / "cgroup.procs").write_text(str(os.getpid()))
print([each for each in cgroups.abandoned(lambda _: False) if each.parent == base])
cgroups.remove(state)
print(cgroups.existing(state))
"""


def test_the_kernel_gives_a_process_in_a_leaf_groups_beside_it(tmp_path: Path) -> None:
    """As systemd has it: whoever runs the Grid sits in a group that can have none below it. With whatever controller
    this kernel has for version 2."""
    tops = [top for top, _, version in cgroups._mounted("none") if version == 2 and os.access(top, os.W_OK)]
    controllers = [word for top in tops for word in (top / "cgroup.controllers").read_text().split()]
    if not controllers or (tops[0] / "cgroup.type").exists():
        pytest.skip("no version 2 of control groups with a controller is writable here")
    slice_ = tops[0] / f"gridportal.test-{os.getpid()}.slice"
    leaf = slice_ / "service"
    leaf.mkdir(parents=True)
    (tmp_path / "state").mkdir()
    try:
        (tops[0] / "cgroup.subtree_control").write_text(f"+{controllers[0]}")
        argv = [sys.executable, "-c", IN_A_LEAF, str(leaf), controllers[0], str(tmp_path / "state")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    finally:
        leaf.rmdir()
        slice_.rmdir()
    assert done.stderr == ""
    name = cgroups.name(State(tmp_path / "state"))
    where, abandoned, existing = done.stdout.splitlines()
    assert where == f"{slice_} /{slice_.name}/{name}/n1"
    assert abandoned == f"[{slice_ / name!r}]"
    assert existing == "[]"
