import json

import numpy as np
import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.lu_mesh import make_mesh
from gridportal.workloads.lu_wavefront import Wavefront
from scheduling.jobs.core.patterns import named
from tests.gridportal.workloads import mpi

LU = "gridportal.workloads.lu"
STEPS = "tests.gridportal.workloads.cfd_steps"


def norms(run_dir):
    figures = mpi.events(run_dir)[-1]["figures"]
    return figures["residual_norms"] + figures["error_norms"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("alone")
    done = mpi.run(1, LU, "--class", "S", run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return run_dir


def test_class_s_reaches_the_official_norms(alone):
    result = mpi.events(alone)[-1]
    assert result["verified"] is True
    assert result["figures"]["residual_norms"][0] == pytest.approx(1.6196343210976702e-02, rel=1e-10)
    assert result["figures"]["error_norms"][4] == pytest.approx(1.3103347914111294e-03, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_the_norms_are_those_of_one_rank(ranks, alone, tmp_path):
    done = mpi.run(ranks, LU, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert norms(tmp_path) == pytest.approx(norms(alone), rel=1e-12)


def test_blocks_of_different_sizes_on_six_ranks_give_the_norms_of_one():
    one, six = (json.loads(mpi.run(ranks, STEPS, "lu", "13").stdout) for ranks in (1, 6))
    assert six == pytest.approx(one, rel=1e-12)


def test_the_run_directory_hears_of_both_sweeps_and_the_right_hand_side(alone):
    start, *phases, _ = mpi.events(alone)
    assert (start["program"], start["class"], start["ranks"]) == ("lu", "S", 1)
    assert [phase["phase"] for phase in phases] == ["init"] + ["lower", "upper", "rhs"] * 50 + ["verify"]
    assert [phase["iteration"] for phase in phases if phase["phase"] == "upper"] == list(range(1, 51))


@pytest.mark.parametrize("ranks", range(1, 33))
def test_messages_run_along_the_edges_of_the_pattern_that_nodes_are_chosen_by(ranks):
    pairs = {frozenset((rank, other)) for rank in range(ranks) for other in make_mesh(rank, ranks, 64).partners}
    assert pairs == {frozenset(edge[:2]) for edge in named("lu", ranks).edges}


def test_on_four_ranks_the_program_itself_sends_to_its_neighbours_only():
    done = mpi.run(4, "tests.gridportal.workloads.lu_partners")
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["partners"] == [[1, 2], [0, 3], [0, 3], [1, 2]]
    assert seen["messages"] == [2 * 10 + 2, 2 * 10 + 2, 2 * 10 + 2, 2 * 10 + 2]


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (4, 1), (3, 5), (6, 2)])
def test_the_wave_along_diagonals_is_the_recurrence_point_by_point(rows, columns):
    random = np.random.default_rng(1)
    known, matrices = random.random((rows, columns, 5)), random.random((rows, columns, 5, 10)) / 10
    before_row, before_column = random.random((columns, 5)), random.random((rows, 5))
    found = Wavefront(rows, columns).solve(known, matrices, before_row, before_column)
    for i in range(rows):
        for j in range(columns):
            north = found[i - 1, j] if i else before_row[j]
            west = found[i, j - 1] if j else before_column[i]
            wanted = known[i, j] - matrices[i, j] @ np.concatenate([north, west])
            assert found[i, j] == pytest.approx(wanted, rel=1e-12)


def test_a_cube_too_small_for_its_ranks_is_refused():
    with pytest.raises(InputError, match="ranks is 7; accepted is fewer ranks: 12 points"):
        make_mesh(0, 7, 12)


def test_an_unknown_class_gets_one_sentence_and_exit_code_2():
    done = mpi.run(2, LU, "--class", "Q")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "error: class is 'Q'; accepted is one of S, W, A."
