import json

import numpy as np
import pytest

from gridportal.workloads.mri_kernels import best_phase, process, smooth, without_ghost
from gridportal.workloads.mri_scan import Scan
from scheduling.jobs.core.patterns import named
from tests.gridportal.workloads import mpi

MRI = "gridportal.workloads.mri"
SLICES = 16 * 8


def run(ranks, run_dir):
    done = mpi.run(ranks, MRI, "--class", "S", run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return mpi.events(run_dir)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(1, tmp_path_factory.mktemp("alone"))


def test_one_rank_works_itself_and_is_verified(alone):
    result = alone[-1]
    assert result["verified"] is True
    assert result["figures"]["slices_by_rank"] == [SLICES]
    assert result["figures"]["motion_error"] < 1e-12


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_the_pictures_are_the_same_whoever_computed_them(ranks, alone, tmp_path):
    figures = run(ranks, tmp_path)[-1]["figures"]
    assert figures["checksum"] == alone[-1]["figures"]["checksum"]
    master, *workers = figures["slices_by_rank"]
    assert (master, sum(workers), min(workers) > 0) == (0, SLICES, True)


def test_a_volume_is_a_phase(alone):
    start, *phases, _ = alone
    assert (start["program"], start["class"]) == ("mri", "S")
    assert [phase["phase"] for phase in phases] == ["scan", "references"] + ["images"] * 8
    assert [(phase["iteration"], phase["of"]) for phase in phases[2:]] == [(i + 1, 8) for i in range(8)]


def test_a_slow_worker_gets_fewer_slices_and_messages_run_along_the_star():
    done = mpi.run(4, "tests.gridportal.workloads.mri_slow_worker")
    seen = json.loads(done.stdout.splitlines()[-1])
    assert sum(seen["slices"]) == 24
    assert 1 <= seen["slices"][3] < min(seen["slices"][1:3])
    assert {frozenset(pair) for pair in seen["pairs"]} == {frozenset(edge[:2]) for edge in named("star", 4).edges}


@pytest.mark.parametrize(("index", "volume"), [(0, 1), (2, 3), (3, 5)])
def test_a_slice_comes_back_as_if_the_head_had_kept_still(index, volume):
    scan = Scan(32, 4)
    reference = scan.raw(index, 0)
    result = process(scan.raw(index, volume), reference, 12)
    assert result.motion == pytest.approx(scan.motion(volume), abs=1e-9)
    assert np.abs(scan.motion(volume)).max() > 0.1
    assert result.picture == pytest.approx(smooth(without_ghost(reference)), abs=1e-9)


def test_the_ghost_is_found_in_the_dark_around_the_head():
    scan = Scan(32, 4)
    assert best_phase(scan.raw(2, 0)) == pytest.approx(scan.ghost(2), abs=1e-6)


def test_an_unknown_class_gets_one_sentence_and_exit_code_2():
    done = mpi.run(2, MRI, "--class", "Q")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "error: class is 'Q'; accepted is one of S, W, A."
