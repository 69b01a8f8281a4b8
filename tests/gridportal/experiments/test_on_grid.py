"""A small trial of each on a Grid of its own: real load, real messages, real programs, a real skeleton."""

from __future__ import annotations

import re
import shutil

import pytest

from gridportal.experiments.grid_programs import Mpi, Program
from gridportal.experiments.interface import Trial
from gridportal.experiments.loadtraffic.measurement import LoadTraffic, Sized
from gridportal.experiments.loadtraffic.measurement import Scale as LoadScale
from gridportal.experiments.skeletons.foreign import Language, Packaged, Source
from gridportal.experiments.skeletons.measurement import Scale, Skeletons
from gridportal.experiments.test_grid import own_grids
from tests.gridportal.testbed.conftest import eventually, need_namespaces

pytestmark = [pytest.mark.grid, pytest.mark.timeout(400)]


@pytest.mark.slow
def test_a_program_runs_on_automatically_selected_nodes_under_load_and_traffic(tmp_path):
    need_namespaces()
    small = Sized(Program("fft2d", ("--size", "64", "--iterations", "2")), 4, "all-to-all")
    scale = LoadScale({"fft2d": small}, 1, {"gap": 60.0}, {"gap": 0.5, "median": 2e5})
    trial = Trial(
        "0/fft2d/both/automatic", {"round": 0, "program": "fft2d", "condition": "both", "method": "automatic"}
    )
    with own_grids(tmp_path) as grids:
        experiment = LoadTraffic(scale, 1, tmp_path, grids)
        grid = grids.on(str(experiment.topology_file())).client
        if not grid.status()["cgroups"]:
            pytest.skip("No control group is writable here, so nodes have no share of the processor.")

        grid.load_model(3, {"gap": 1.0})
        assert eventually(lambda: grid.status()["load"], "a job of the load model")
        grid.traffic_model(3, {"gap": 0.2, "median": 1e6})
        before = _bytes(grid)
        eventually(lambda: _bytes(grid) > before + 2_000_000, "messages")
        found = experiment.perform(trial, {})

        # Its master hears from anybody, which must also end where no rank shares memory with another.
        assert grids.on(str(experiment.topology_file())).run(Program("mri", ("--class", "S")), found["nodes"]) > 0
        status = grid.status()
        assert len(set(found["nodes"])) == 4
        assert found["seconds"] > 0
        assert (status["load"], status["load_model"], status["traffic_model"]) == ({}, None, None)


def _bytes(grid) -> int:
    words = grid.run(["m-1", "m-4"], ["cat", "/proc/net/dev"])
    lines = [line.split() for each in words for line in each["output"].splitlines() if "eth0:" in line]
    return sum(int(line[1]) for line in lines)


@pytest.mark.slow
def test_a_skeleton_is_made_and_held_against_its_program(tmp_path):
    need_namespaces()
    heat = Program("heat", ("--rows", "64", "--columns", "64", "--steps", "400"))
    with own_grids(tmp_path) as grids:
        experiment = Skeletons(Scale({"heat": heat}, 1, 1), 1, tmp_path, grids)
        done = {trial.key: experiment.perform(trial, {}) for trial in experiment.trials()}

    result = experiment.summarize(done)
    point = result["programs"]["heat"]["points"][0]
    assert point["seconds"] > 0
    assert point["predicted"] > 0
    assert done["heat/reference"]["expected"] > 0


def test_programs_of_others_are_built_traced_and_predicted_or_it_is_said_why_not(tmp_path):
    need_namespaces()
    sort = Source("samplesort", Mpi.MPICH, Language.C, (20000, 20))
    halo = Source("halo", Mpi.OPEN_MPI, Language.FORTRAN, (64, 2, 200))
    never = re.compile("$^")
    absent = Packaged("absent", Mpi.MPICH, Language.C, "absent", ("no-such-program",), never, never)
    with own_grids(tmp_path) as grids:
        experiment = Skeletons(Scale({"sort": sort, "halo": halo, "absent": absent}, 1, 1), 1, tmp_path, grids)
        done = {}
        for trial in experiment.trials():
            done[trial.key] = experiment.perform(trial, done)

    result = experiment.summarize(done)
    assert [point["predicted"] > 0 for point in result["programs"]["sort"]["points"]] == [True]
    if shutil.which("mpifort.openmpi") is None:
        assert result["left_out"]["halo"] == "mpifort.openmpi is not installed here."
    else:
        assert [point["predicted"] > 0 for point in result["programs"]["halo"]["points"]] == [True]
    assert "no-such-program is not installed here" in result["left_out"]["absent"]
    assert done["absent/0"] == {"left_out": result["left_out"]["absent"]}
