"""Folders with spaces and quotes in their names: mpiexec splits the name of its launcher at spaces."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed import environment, launch
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import ended, eventually, need_namespaces
from tests.gridportal.testbed.networks import few_nodes

WORLD = "from mpi4py import MPI; import sys; c = MPI.COMM_WORLD; n = c.allreduce(1); c.rank or print(n, sys.argv[1:])"


@pytest.fixture(scope="module", params=["", "unshaped"], ids=["namespaces", "unshaped"])
def grid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """One whose state directory has spaces in its path."""
    if not request.param:
        need_namespaces()
    root = tmp_path_factory.mktemp("paths") / "sp ace" / "it's h"
    file = few_nodes(tmp_path_factory.mktemp("topology"), 5)
    launch.up(file, root, mode=request.param or None, with_parent=True)
    yield Grid(root)
    Grid(root).down()


@pytest.mark.in_turn("grid")
def test_ranks_start_and_get_their_words_as_given(grid: Grid) -> None:
    words = ["a b", "$HOME;'q'", 'say "x"']
    done = grid.run(["n2", "n1", "n5"], ["mpiexec", "-n", "3", sys.executable, "-c", WORLD, *words], timeout=30)[0]
    assert done["exit_code"] == 0, done["output"]
    assert done["output"].strip() == f"3 {words}"


@pytest.mark.in_turn("grid")
def test_a_run_in_a_folder_with_a_space_has_all_its_ranks(grid: Grid, tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    folder.mkdir()
    grid.submit("spaced", "mpiexec -n 3 sh -c 'pwd >rank-$PMI_RANK'\n", ["n3", "n1", "n2"], str(folder), 30.0)
    assert ended(grid, "spaced")["exit_code"] == 0, (folder / "output.log").read_text()
    assert [(folder / f"rank-{rank}").read_text().strip() for rank in range(3)] == [str(folder)] * 3


@pytest.mark.in_turn("grid")
def test_mpiexec_itself_may_lie_in_a_folder_with_a_space(grid: Grid, tmp_path: Path) -> None:
    programs = tmp_path / "my venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("mpiexec.hydra", "hydra_pmi_proxy"):
        found = shutil.which(name, path=environment.search_path())
        assert found, f"{name} is not installed"
        shutil.copy(found, programs / name)
    done = grid.run(["n1", "n2"], [str(programs / "mpiexec.hydra"), "-n", "2", "hostname"], timeout=30)[0]
    assert done["exit_code"] == 0, done["output"]
    assert len(done["output"].split()) == 2


def test_the_launchers_folder_is_plain_and_goes_with_the_grid(tmp_path: Path) -> None:
    root = tmp_path / "sp ace"
    launch.up(few_nodes(tmp_path), root, mode="unshaped", with_parent=True)
    folder = Path(str((State(root).record() or {})["socket"])).parent
    assert (folder / "enter-node").resolve() == root / "enter-node"
    assert " " not in str(folder)
    assert folder.stat().st_mode & 0o077 == 0
    Grid(root).down()
    assert not folder.exists()


def test_the_launchers_folder_goes_with_a_grid_that_was_killed(tmp_path: Path) -> None:
    root = tmp_path / "sp ace"
    process, _ = launch.up(few_nodes(tmp_path), root, mode="unshaped")
    folder = Path(str((State(root).record() or {})["socket"])).parent
    process.kill()
    process.wait(timeout=60)
    eventually(lambda: not folder.exists(), "the end of the launcher's folder")
