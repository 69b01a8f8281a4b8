"""On an emulated Grid: what a job's trace says and what the nodes' connections show is the same pattern."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed.client import Grid
from scheduling.profiles.adapters import trace_library, traffic_watch
from scheduling.profiles.core import profile
from scheduling.runs.adapters import recorder
from tests.applications.conftest import EXAMPLES
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.scheduling.portal import Portal
from tests.scheduling.profiles.tracing.conftest import MPICH, libraries, need, recording_library

pytestmark = pytest.mark.grid
NODES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    rates = {(one, other): 500.0 for one in NODES for other in NODES if one != other}
    with shaped_grid(tmp_path_factory.mktemp("four"), rates) as grid:
        yield grid


@pytest.fixture(scope="module")
def portal(grid: Grid, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    return Portal(tmp_path_factory.mktemp("home"), grid.directory)


@pytest.mark.parametrize(
    ("program", "pairs"),
    [
        ("cg", {(0, 1), (1, 2), (2, 3)}),
        pytest.param("heat", {(0, 1), (0, 2), (1, 3), (2, 3)}, marks=pytest.mark.slow),
    ],
)
def test_connections_show_what_the_trace_shows(
    grid: Grid, tmp_path: Path, program: str, pairs: set[tuple[int, int]]
) -> None:
    library = Path(shutil.copy(recording_library(MPICH, libraries()), tmp_path / "trace.so"))
    tmp_path.chmod(0o777)
    folder = tmp_path / "trace"
    words = [
        sys.executable,
        "-m",
        f"gridportal.workloads.{program}",
        *(["--steps", "200"] if program == "heat" else []),
    ]
    argv = ["mpiexec", "-n", "4", *recorder.prefix(library, folder), *words]
    seen = traffic_watch.watched(grid, NODES, argv, 90.0)  # one run, looked at in both ways
    traced = profile.of_trace(trace_library.collect(folder))
    assert {pair[:2] for pair in seen.dominant} == pairs
    assert {pair[:2] for pair in traced.dominant} == pairs
    assert profile.apart(seen, traced) < 0.03
    assert (seen.sizes >= traced.sizes * 0.99).all()


def test_a_traced_job_leaves_a_profile_by_which_the_next_is_placed(portal: Portal) -> None:
    need(MPICH, "gcc")
    first = portal.submit("nas-cg", asking={"trace": True, "method": "random"}, **{"class": "S"})
    assert portal.to_the_end(first)["state"] == "succeeded"
    found = portal.run("""
        from scheduling.models import Profile
        row = Profile.objects.get(application__slug="nas-cg")
        print(json.dumps([row.source, row.pattern, row.ranks, row.trace_file != ""]))
    """)
    assert found == ["trace", "line", 4, True]
    second = portal.submit("nas-cg", asking={"pattern": "discovered"}, **{"class": "S"})
    story = portal.to_the_end(second)
    assert story["state"] == "succeeded", story
    edges = portal.run(f"""
        from scheduling.models import Placement
        chosen = Placement.objects.get(job={second}).candidates[0].edges
        print(json.dumps(sorted([edge.ranks, edge.weight] for edge in chosen)))
    """)
    assert [ranks for ranks, _ in edges] == [[0, 1], [1, 2], [2, 3]]
    assert all(weight > 4e6 for _, weight in edges)


def test_monitor_keeps_the_profile_of_a_program_that_nobody_traced(portal: Portal, grid: Grid) -> None:
    words = ["trace", "monitor", "--nodes", ",".join(NODES), "--state-dir", str(grid.directory), "--json"]
    words += ["--keep", "nas-mg", "--param", "class=S", "--", sys.executable, "-m", "gridportal.workloads.mg"]
    gridportal = str(Path(sys.executable).parent / "gridportal")
    environment = {**os.environ, "GRIDPORTAL_HOME": str(portal.home), "DATABASE_URL": ""}
    done = subprocess.run([gridportal, *words], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["messages"] is None
    found = portal.run("""
        from scheduling.models import Profile
        found = Profile.objects.filter(application__slug="nas-mg")
        print(json.dumps(list(found.values_list("source", "pattern"))))
    """)
    assert found == [["monitoring", "mesh-2d"]]


def test_a_program_of_open_mpi_from_elsewhere_is_watched_too(grid: Grid, tmp_path: Path) -> None:
    need("lmp", "mpirun.openmpi")
    words = ["lmp", "-in", str(EXAMPLES / "in.melt"), "-log", "none", "-var", "progress", str(EXAMPLES / "progress")]
    launcher = traffic_watch.launcher_argv("mpirun.openmpi", NODES, tmp_path)
    argv = [*launcher, *words, "-var", "cells", "5", "-var", "steps", "60"]
    seen = traffic_watch.watched(grid, NODES, argv, 120.0, str(tmp_path))
    assert seen.dominant
    assert seen.sizes.sum() > 1e5
