import numpy as np
import pytest

from gridportal.workloads.ft_classes import CLASSES
from gridportal.workloads.ft_field import checksum, decay, initial_field
from gridportal.workloads.ft_slabs import SlabTransform
from tests.gridportal.workloads import mpi
from tests.gridportal.workloads.one_rank import OneRank, no_clock

FT = "gridportal.workloads.ft"
SHAPE = (4, 8, 16)


def whole(axis):
    return range(SHAPE[axis])


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_class_s_has_the_official_checksums(ranks, tmp_path):
    done = mpi.run(ranks, FT, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VERIFICATION SUCCESSFUL" in done.stdout
    start, *phases, result = mpi.events(tmp_path)
    assert (start["program"], start["ranks"]) == ("ft", ranks)
    assert [phase["phase"] for phase in phases] == ["init", "forward_fft"] + ["evolve", "inverse_fft"] * 6
    assert result["figures"]["checksum_real"] == pytest.approx(554.2683411902, rel=1e-12)
    assert result["figures"]["checksum_imaginary"] == pytest.approx(493.2597244941, rel=1e-12)


def test_class_w_has_the_official_checksums_too(tmp_path):
    assert mpi.run(2, FT, "--class", "W", run_dir=tmp_path).returncode == 0
    assert mpi.events(tmp_path)[-1]["figures"]["error"] < 1e-12


def test_only_transforms_communicate(tmp_path):
    mpi.run(2, FT, run_dir=tmp_path)
    told = [event for event in mpi.events(tmp_path) if event["event"] == "phase"]
    assert {event["phase"] for event in told if "communicate" in event} == {"forward_fft", "inverse_fft"}


def test_all_classes_have_the_official_sizes():
    sizes = {name: (problem.shape, problem.iterations) for name, problem in CLASSES.items()}
    assert sizes == {
        "S": ((64, 64, 64), 6),
        "W": ((32, 128, 128), 6),
        "A": ((128, 256, 256), 6),
        "B": ((256, 256, 512), 20),
    }


def test_the_transform_is_that_of_all_three_axes():
    field = initial_field(SHAPE, whole(0))
    transform = SlabTransform(OneRank(), no_clock(), SHAPE)
    spectrum = transform.forward(field.copy())
    assert np.allclose(spectrum, np.fft.fftn(field), rtol=0, atol=1e-12)
    back = np.empty_like(field)
    transform.inverse(spectrum, back)
    assert np.allclose(back, field, rtol=0, atol=1e-14)


def test_slabs_of_the_field_and_of_its_decay_make_up_the_whole():
    slabs = [initial_field(SHAPE, range(z, z + 2)) for z in (0, 2)]
    assert np.array_equal(np.concatenate(slabs), initial_field(SHAPE, whole(0)))
    factors = [decay(SHAPE, range(y, y + 4)) for y in (0, 4)]
    assert np.array_equal(np.concatenate(factors, axis=1), decay(SHAPE, whole(1)))


def test_the_slowest_frequencies_decay_least():
    factors = decay(SHAPE, whole(1))
    assert factors[0, 0, 0] == 1.0
    assert factors.argmin() == np.ravel_multi_index((2, 4, 8), SHAPE)
    assert factors[1, 0, 0] == factors[3, 0, 0]


def test_checksums_of_slabs_add_up():
    field = initial_field(SHAPE, whole(0))
    parts = [checksum(field[z : z + 2], SHAPE, range(z, z + 2)) for z in (0, 2)]
    assert sum(parts) == pytest.approx(checksum(field, SHAPE, whole(0)), rel=1e-14)


def test_three_ranks_are_refused_in_one_sentence():
    done = mpi.run(3, FT)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: ranks is 3; accepted is a power of two such as 1, 2, 4 or 8, at most 64."
