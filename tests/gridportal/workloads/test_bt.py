import json

import numpy as np
import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.bt_cells import make_partition
from gridportal.workloads.bt_lines import Lines
from gridportal.workloads.cfd.block import Block
from gridportal.workloads.cfd.jacobians import jacobians
from scheduling.jobs.core.patterns import named
from tests.gridportal.workloads import mpi

BT = "gridportal.workloads.bt"
STEPS = "tests.gridportal.workloads.cfd_steps"


def norms(run_dir):
    figures = mpi.events(run_dir)[-1]["figures"]
    return figures["residual_norms"] + figures["error_norms"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("alone")
    done = mpi.run(1, BT, "--class", "S", run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return run_dir


def test_class_s_reaches_the_official_norms(alone):
    result = mpi.events(alone)[-1]
    assert result["verified"] is True
    assert result["figures"]["residual_norms"][0] == pytest.approx(1.7034283709541311e-01, rel=1e-10)
    assert result["figures"]["error_norms"][4] == pytest.approx(8.9269630987491446e-04, rel=1e-10)


@pytest.mark.slow
def test_the_norms_on_four_ranks_are_those_of_one(alone, tmp_path):
    done = mpi.run(4, BT, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert norms(tmp_path) == pytest.approx(norms(alone), rel=1e-12)


def test_cells_of_different_sizes_on_nine_ranks_give_the_norms_of_one():
    one, nine = (json.loads(mpi.run(ranks, STEPS, "bt", "13").stdout) for ranks in (1, 9))
    assert nine == pytest.approx(one, rel=1e-12)


def test_the_run_directory_hears_of_every_direction(alone):
    start, *phases, _ = mpi.events(alone)
    assert (start["program"], start["class"], start["ranks"]) == ("bt", "S", 1)
    step = ["rhs", "x_solve", "y_solve", "z_solve"]
    assert [phase["phase"] for phase in phases] == ["init"] + step * 60 + ["verify"]


@pytest.mark.parametrize("ranks", [1, 4, 9, 16, 25])
def test_cells_cover_the_cube_once_and_each_rank_has_one_in_every_slice(ranks):
    side = round(ranks**0.5)
    partitions = [make_partition(rank, ranks, 12) for rank in range(ranks)]
    places = [place for partition in partitions for place in partition.coordinates]
    assert sorted(places) == sorted(np.ndindex(side, side, side))
    for partition in partitions:
        for axis in range(3):
            stages = [partition.at_stage(axis, stage) for stage in range(side)]
            assert sorted(stages) == list(range(side))
    assert sum(np.prod(cell.shape) for partition in partitions for cell in partition.cells) == 12**3


@pytest.mark.parametrize("ranks", [4, 9, 16])
def test_the_cell_after_every_cell_belongs_to_the_successor(ranks):
    partitions = [make_partition(rank, ranks, 12) for rank in range(ranks)]
    owner = {place: rank for rank, partition in enumerate(partitions) for place in partition.coordinates}
    for place, rank in owner.items():
        for axis in range(3):
            after = tuple(part + (axis == a) for a, part in enumerate(place))
            if after in owner:
                assert owner[after] == partitions[rank].successors[axis]
                assert rank == partitions[owner[after]].predecessors[axis]


@pytest.mark.parametrize("ranks", [4, 9, 16])
def test_messages_run_along_the_edges_of_the_pattern_that_nodes_are_chosen_by(ranks):
    pairs = {frozenset((rank, other)) for rank in range(ranks) for other in make_partition(rank, ranks, 12).successors}
    assert pairs == {frozenset(edge[:2]) for edge in named("bt", ranks).edges}


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_line_solve_solves_the_system_it_stands_for(axis):
    block, step = Block(6, (0, 0, 0), (6, 6, 6)), 0.01
    field = block.first_field()
    wanted = np.random.default_rng(axis).random((4, 4, 4, 5))
    lines = Lines(block, field, axis, step)
    right = applied(block, field, axis, step, wanted)
    lines.eliminate(right, np.zeros((4, 4, 5, 6)))
    lines.substitute(right, np.zeros((4, 4, 5)))
    assert right == pytest.approx(wanted, rel=1e-10)


def applied(block, field, axis, step, values):
    """The block-tridiagonal matrix times `values`, both with `axis` first."""
    window = list(block.window())
    window[axis] = slice(window[axis].start - 1, window[axis].stop + 1)
    convective, viscous = jacobians(np.moveaxis(field[tuple(window)], axis, 0), axis, step, block.size)
    padded = np.pad(values, [(1, 1), (0, 0), (0, 0), (0, 0)])[..., None]
    own = padded + 2.0 * viscous @ padded
    from_before = (-(convective + viscous) @ padded)[:-2]
    from_after = ((convective - viscous) @ padded)[2:]
    return (own[1:-1] + from_before + from_after)[..., 0]


def test_ranks_that_are_no_square_get_one_sentence_and_exit_code_2():
    done = mpi.run(2, BT, "--class", "S")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "error: ranks is 2; accepted is a square number such as 1, 4, 9 or 16."


def test_a_cube_too_small_for_its_ranks_is_refused():
    with pytest.raises(InputError, match="ranks is 49; accepted is fewer ranks: 12 points"):
        make_partition(0, 49, 12)
