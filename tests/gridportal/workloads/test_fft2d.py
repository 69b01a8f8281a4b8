import numpy as np
import pytest

from gridportal.workloads.fft2d_field import exact_rows
from gridportal.workloads.fft2d_slabs import Transposition, rows_of
from tests.gridportal.workloads import mpi
from tests.gridportal.workloads.one_rank import OneRank, no_clock

FFT2D = "gridportal.workloads.fft2d"
SIZE = 24


def exact(transforms):
    return exact_rows(range(SIZE), SIZE, transforms)


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_every_value_is_exact_after_all_transforms(ranks, tmp_path):
    done = mpi.run(ranks, FFT2D, "--size", "128", "--iterations", "3", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VERIFICATION SUCCESSFUL" in done.stdout
    start, *phases, result = mpi.events(tmp_path)
    assert (start["program"], start["size"], start["ranks"]) == ("fft2d", 128, ranks)
    transform = ["row_ffts", "transpose", "column_ffts"]
    assert [phase["phase"] for phase in phases] == ["init", *transform * 3, "verify"]
    assert result["figures"]["error"] < 1e-12


@pytest.mark.parametrize("iterations", [4, 5, 6])
def test_ranks_that_do_not_divide_the_size_get_uneven_slabs(iterations):
    assert mpi.run(3, FFT2D, "--size", "100", "--iterations", str(iterations)).returncode == 0


def test_only_the_transpose_communicates(tmp_path):
    mpi.run(2, FFT2D, "--size", "64", run_dir=tmp_path)
    assert {event["phase"] for event in mpi.events(tmp_path) if "communicate" in event} == {"transpose"}


@pytest.mark.parametrize("transforms", range(5))
def test_the_exact_result_is_what_numpy_makes_of_the_one_before(transforms):
    transformed = np.fft.fft2(exact(transforms), norm="ortho").T
    assert np.allclose(exact(transforms + 1), transformed, rtol=0, atol=1e-13)


def test_results_of_different_transforms_or_without_transpose_are_told_apart():
    results = [exact(transforms) for transforms in range(4)]
    results += [result.T for result in results]
    far_apart = [np.abs(one - other).max() > 0.1 for n, one in enumerate(results) for other in results[:n]]
    assert all(far_apart)


def test_four_transforms_give_the_field_back():
    assert np.array_equal(exact(4), exact(0))


def test_slabs_of_the_exact_result_make_up_the_whole():
    slabs = [exact_rows(rows_of(rank, 5, SIZE), SIZE, 3) for rank in range(5)]
    assert np.array_equal(np.concatenate(slabs), exact(3))


def test_one_rank_transposes_by_itself():
    rows = exact(0).copy()
    Transposition(OneRank(), no_clock(), SIZE)(rows)
    assert np.array_equal(rows, exact(0).T)


@pytest.mark.parametrize(
    ("ranks", "arguments", "sentence"),
    [
        (2, ["--size", "8"], "error: size is 8; accepted is a whole number from 16 to 16384."),
        pytest.param(
            *(17, ["--size", "16"], "error: ranks is 17; accepted is 1 to 16, a row for each at least."),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_code_2(ranks, arguments, sentence):
    done = mpi.run(ranks, FFT2D, *arguments)
    assert done.returncode == 2
    assert done.stderr.strip() == sentence
