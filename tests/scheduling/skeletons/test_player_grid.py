"""On an emulated Grid: a program of Open MPI is traced, and its skeleton played with that MPI on candidate groups."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed.client import Grid
from tests.applications.cases import OPEN_MPI
from tests.applications.test_programs import HERE
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.scheduling.portal import Portal
from tests.scheduling.profiles.tracing.conftest import need

pytestmark = pytest.mark.grid
NODES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    rates = {(one, other): 500.0 for one in NODES for other in NODES if one != other}
    with shaped_grid(tmp_path_factory.mktemp("four"), rates) as grid:
        yield grid


@pytest.mark.slow
def test_the_skeleton_of_an_open_mpi_program_is_tried_with_open_mpi(grid: Grid, tmp_path: Path, programs: Path) -> None:
    need("mpicc.openmpi", "mpirun.openmpi", "gcc")
    program = programs / "ring"
    argv = ["mpicc.openmpi", "-o", str(program), str(HERE / "ring.c"), "-lpthread"]
    subprocess.run(argv, check=True, timeout=60)
    portal = Portal(tmp_path, grid.directory)
    fields = {"slug": "ring", "name": "Ring", "command": [str(program)], "launcher": OPEN_MPI, "pattern": "ring"}
    portal.run(f"Application.objects.create(**{fields!r}, mpi='Open MPI 4.1', ranks={{'min': 1, 'max': 4}})")
    traced = portal.submit("ring", 2, asking={"trace": True, "method": "random"})
    story = portal.to_the_end(traced)
    assert story["state"] == "succeeded", story
    # As if it were long: a trial takes a tenth of the program at most.
    who = portal.run("""
        from scheduling.models import Profile, Skeleton
        from scheduling.skeletons.services import stored_skeletons
        made, _ = stored_skeletons.build(Profile.objects.get(), 0.2)
        Skeleton.objects.filter(pk=made.pk).update(seconds=100.0, expected=0.2)
        print(json.dumps([message(made.player), sorted(made.document["player"])]))
    """)
    assert who[0].startswith("It is played in C with the program's own MPI, Open MPI v4.")
    assert "near" in who[1]
    tried = portal.submit("ring", 2, asking={"method": "pattern"})
    story = portal.to_the_end(tried)
    assert (story["state"], "trial" in story["events"]) == ("succeeded", True), story
    runs = portal.run(f"""
        rows = Job.objects.get(pk={tried}).skeleton_runs.all()
        print(json.dumps([[row.state, row.player.code, row.seconds, row.predicted, row.run_dir] for row in rows]))
    """)
    done = [row for row in runs if row[0] == "done"]
    assert len(done) >= 2, runs
    assert all(code == "played_in_c" and 0 < seconds < 20 and predicted > 0 for _, code, seconds, predicted, _ in done)
    assert all(Path(directory, "skeleton.times").exists() for *_, directory in done)
