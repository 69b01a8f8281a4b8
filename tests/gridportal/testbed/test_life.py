"""From up to down, and what is left after a crash: nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError, InputError
from gridportal.testbed import cgroups, launch, process_owners
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually, need_namespaces
from tests.gridportal.testbed.networks import crossbar

pytestmark = pytest.mark.grid
PARENT = """
import sys, time
from gridportal.testbed import launch
launch.up(sys.argv[2], sys.argv[1], mode=sys.argv[3] or None, with_parent=True)
print("ready", flush=True)
time.sleep(120)
"""
NODES = ("n1", "n2", "n3")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topology of three nodes: what ends and what is left is the same as with ten."""
    file = tmp_path_factory.mktemp("topology") / "three.json"
    rates = {(one, other): 100.0 for one in NODES for other in NODES if one != other}
    file.write_text(json.dumps(crossbar(rates)), encoding="utf-8")
    return file


def members(root: Path) -> list[int]:
    """Every process of the Grid in `root`: gridd and its agents by their command, the rest by their mark."""
    wanted = os.fsencode(root)
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            marked = process_owners.marks(int(name)).get(process_owners.GRID_MARK) == str(root)
            try:
                command = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if marked or (b"gridportal.testbed.gridd" in command and wanted in command):
                found.append(int(name))
    return found


def outside(root: Path, pid: int) -> int:
    """The number here of a process that has the number `pid` in the Grid's own PID namespace."""
    for member in members(root):
        status = Path(f"/proc/{member}/status").read_text(encoding="utf-8")
        numbers = next(line for line in status.splitlines() if line.startswith("NSpid")).split()[1:]
        if int(numbers[-1]) == pid:
            return member
    raise AssertionError(f"no process of the Grid has the number {pid}")


def busy(root: Path) -> None:
    """Give the Grid something to do on several nodes."""
    folder = root.parent / "run"
    folder.mkdir()
    Grid(root).submit("busy", "mpiexec -n 2 sh -c 'touch up-$PMI_RANK; sleep 60'\n", ["n1", "n2"], str(folder))
    Grid(root).load(["n3"], processes=2)
    eventually(lambda: len(list(folder.glob("up-*"))) == 2, "the ranks")


def test_a_grid_that_loses_the_process_of_a_node_ends_and_can_be_brought_up_again(three: Path, tmp_path: Path) -> None:
    need_namespaces()
    root = tmp_path / "grid"
    launch.up(three, root, with_parent=True)
    try:
        os.kill(outside(root, int((State(root).node("n3") / "pid").read_text())), signal.SIGKILL)
        eventually(lambda: not members(root), "the end of the Grid")
        assert "The process of node n3 ended" in State(root).log.read_text(encoding="utf-8")
        launch.up(three, root, with_parent=True)
        assert len(Grid(root).status()["nodes"]) == len(NODES)
    finally:
        launch.down(State(root))


@pytest.fixture(params=["", "unshaped"], ids=["namespaces", "unshaped"])
def parent(request: pytest.FixtureRequest, three: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has brought up a busy Grid which shall end with it."""
    if not request.param:
        need_namespaces()
    root = tmp_path / "grid"
    argv = [sys.executable, "-c", PARENT, str(root), str(three), request.param]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        busy(root)
        yield process, root
        process.kill()
    Grid(root).down()


@pytest.mark.in_turn("parent")
def test_killing_the_supervisor_leaves_no_process(parent: tuple[subprocess.Popen[str], Path]) -> None:
    process, root = parent
    assert len(members(root)) > len(NODES) + 1
    process.kill()
    process.wait(timeout=60)
    eventually(lambda: not members(root), "the end of the Grid")


@pytest.mark.in_turn("parent")
def test_killing_gridd_leaves_no_process(parent: tuple[subprocess.Popen[str], Path]) -> None:
    _, root = parent
    record = State(root).record()
    assert record is not None
    os.kill(record["pid"], signal.SIGKILL)
    eventually(lambda: not members(root), "the end of the Grid")


def test_killing_the_first_process_inside_leaves_nothing_either(three: Path, tmp_path: Path) -> None:
    need_namespaces()
    root = tmp_path / "grid"
    before = sorted(os.listdir("/sys/class/net"))
    process, _ = launch.up(three, root, with_parent=True)
    busy(root)
    inside = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    os.kill(inside, signal.SIGKILL)
    process.wait(timeout=60)
    eventually(lambda: not members(root), "the end of the Grid")
    assert sorted(os.listdir("/sys/class/net")) == before
    _, status = launch.up("cmu8", root, with_parent=True)
    assert status["topology"] == "cmu8"
    assert Grid(root).poll(["busy"])["busy"]["state"] == "unknown"
    Grid(root).down()


def folder_of(state: State) -> set[str]:
    """What of the record, the socket and the control groups is there."""
    files = [path.name for path in (state.record_file, state.root / "gridd.sock") if path.exists()]
    return {*files, *(path.name for path in cgroups.existing(state))}


@pytest.mark.in_turn("parent")
def test_killing_everybody_around_a_grid_leaves_no_folder_and_no_file_either(
    parent: tuple[subprocess.Popen[str], Path],
) -> None:
    process, root = parent
    state = State(root)
    assert folder_of(state)
    process.kill()
    process.wait(timeout=60)
    eventually(lambda: not folder_of(state), f"the end of {folder_of(state)}")


def test_a_grid_clears_away_what_others_left_but_not_what_is_up(three: Path, tmp_path: Path, grid: Grid) -> None:
    crashed, living = State(tmp_path / "crashed"), State(grid.directory)
    groups = cgroups.make(crashed, ["n1", "n2"])
    if not groups:
        pytest.skip("this machine permits no control groups")
    with subprocess.Popen(["sleep", "60"]) as last:  # until then no other Grid of this machine clears them away
        cgroups.add(groups["n1"], last.pid)
        assert cgroups.existing(crashed)
        last.kill()
    process, _ = launch.up(three, tmp_path / "grid", with_parent=True)
    Grid(tmp_path / "grid").down()
    process.wait(timeout=60)
    assert not cgroups.existing(crashed)
    assert cgroups.existing(living)


def test_a_watcher_leaves_a_newer_grid_in_the_same_place_alone(three: Path, tmp_path: Path) -> None:
    need_namespaces()
    state = State(tmp_path / "grid")
    first, _ = launch.up(three, state.root, with_parent=True)
    first.kill()
    first.wait(timeout=60)
    launch.up(three, state.root, with_parent=True)
    eventually(lambda: not watchers(state, first.pid), "the end of the first Grid's watcher")
    assert len(Grid(state.root).status()["nodes"]) == len(NODES)
    assert state.record() is not None
    Grid(state.root).down()
    eventually(lambda: not watchers(state), "the end of the second Grid's watcher")


def watchers(state: State, pid: int | None = None) -> list[str]:
    """The command lines of the scripts that wait for the end of a Grid in this place."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "sweep.sh" in words and str(state.record_file) in words and (pid is None or f'"pid": {pid},' in words):
            found.append(words)
    return found


def test_down_leaves_no_process_socket_or_control_group(three: Path, tmp_path: Path) -> None:
    root = tmp_path / "grid"
    process, _ = launch.up(three, root, with_parent=True)
    busy(root)
    Grid(root).down()
    process.wait(timeout=60)
    assert not members(root)
    assert State(root).record() is None
    assert not (root / "gridd.sock").exists()
    assert not cgroups.existing(State(root))


def test_down_of_a_grid_that_is_not_up_is_no_error(tmp_path: Path) -> None:
    Grid(tmp_path).down()


def test_a_second_grid_in_the_same_place_is_refused(grid: Grid) -> None:
    with pytest.raises(BackendError, match=r"up in .* already"):
        launch.up("cmu8", grid.directory)


def test_a_deep_state_directory_gets_its_socket_elsewhere(three: Path, tmp_path: Path) -> None:
    root = tmp_path / ("deep" * 20) / ("deeper" * 10)
    _, status = launch.up(three, root, mode="unshaped", with_parent=True)
    record = State(root).record()
    assert record is not None
    assert len(record["socket"]) < 108
    assert len(status["nodes"]) == len(NODES)
    Grid(root).down()
    assert not Path(record["socket"]).parent.exists()


def test_a_bad_topology_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        launch.up("nowhere", tmp_path / "grid")
    assert not (tmp_path / "grid").exists()


def test_an_unknown_mode_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_TESTBED_MODE", "magic")
    with pytest.raises(InputError, match="user-namespaces, root, unshaped"):
        launch.up("crossbar10", tmp_path / "grid")


ORDINARY = """
import json, sys, time
from pathlib import Path
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
_, status = launch.up("crossbar10", sys.argv[1], mode=sys.argv[2] or None, with_parent=True)
grid = Grid(sys.argv[1])
names = [each["output"].strip() for each in grid.run(["n1", "n5"], ["hostname"])]
folder = Path(sys.argv[1]).parent / "runs" / "run"
folder.mkdir(parents=True)
home = folder.parents[1]
(home / "secret_key").write_text("hush")
tries = f"cat {home}/secret_key {sys.argv[1]}/agents/key; ls -A {home}; id -u; hostname"
grid.submit("run", tries + "; $HYDRA_LAUNCHER_EXEC n5 hostname", ["n1", "n5"], str(folder))
while grid.poll(["run"])["run"]["state"] == "running":
    time.sleep(0.05)
run = (folder / "output.log").read_text().splitlines()
rates = [pair["bandwidth"] for pair in grid.probe(["n1", "n2"])["pairs"]]
grid.down()
test = status["self_test"]
found = {"run": run, "apart": status["isolation"]}
found |= {"mode": status["mode"], "test": test, "warning": status["warning"]}
print(json.dumps({**found, "names": names, "rates": rates}))
"""


def same_version(python: str) -> bool:
    """Whether another Python can use our own installed packages, MPI among them."""
    code = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    return subprocess.run([python, "-c", code], timeout=20).returncode == 0


@pytest.mark.parametrize("mode", ["user-namespaces", "unshaped"])
def test_an_ordinary_user_builds_the_same_grid(mode: str) -> None:
    """As nobody when the tests run as root, with the system's Python: the tests' own may lie in root's home."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.geteuid() != 0:
        pytest.skip("not root: the other tests of the Grid ran as an ordinary user already")
    if python is None:
        pytest.skip("no system Python that another user could run")
    checkout = Path(__file__).parents[3]
    base = Path(tempfile.mkdtemp(prefix="ordinary-", dir="/tmp"))
    os.chown(base, 65534, 65534)
    env = {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"], "HOME": str(base)}
    if same_version(python):
        env["PYTHONPATH"] += f":{sysconfig.get_paths()['purelib']}"
        env["PATH"] += f":{sys.prefix}/bin"
        env["LD_LIBRARY_PATH"] = f"{sys.prefix}/lib"
    argv = [python, "-c", ORDINARY, str(base / "grid"), "unshaped" if mode == "unshaped" else ""]
    try:
        done = subprocess.run(
            argv,
            user=65534,
            group=65534,
            extra_groups=[],
            env=env,
            cwd=base,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        shutil.rmtree(base)
    if "PermissionError" in done.stderr or "No module named 'gridportal'" in done.stderr:
        pytest.skip("another user cannot read this checkout")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    if report["mode"] != mode:
        pytest.skip(report["warning"])
    assert report["apart"]["level"] == "own-view", report["apart"]
    refused, said = report["run"][:2], report["run"][2:]
    assert all(line.endswith("No such file or directory") for line in refused), report["run"]
    assert said[:2] == ["grid", "runs"]
    if mode == "unshaped":
        assert said[2] == "65534"
        return
    assert said[2:] == ["0", "n1", "n5"]
    assert report["test"]["state"] in ("passed", "skipped"), report["test"]
    assert report["names"] == ["n1", "n5"]
    assert all(80e6 < rate < 115e6 for rate in report["rates"])
