import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.cg_grid import make_grid
from scheduling.jobs.core.patterns import named

SIZE = 1400


def grids(ranks):
    return [make_grid(rank, ranks, SIZE) for rank in range(ranks)]


def pairs(ranks):
    return {frozenset((grid.rank, other)) for grid in grids(ranks) for other in grid.partners}


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16, 32])
def test_blocks_cover_the_matrix_once(ranks):
    cells = sum(len(grid.own_rows) * len(grid.own_columns) for grid in grids(ranks))
    places = {(grid.own_rows.start, grid.own_columns.start) for grid in grids(ranks)}
    assert cells == SIZE * SIZE
    assert len(places) == ranks


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32])
def test_partners_agree_on_each_other_in_every_step(ranks):
    ranked = grids(ranks)
    for grid in ranked:
        assert ranked[grid.transpose].transpose == grid.rank
        for step, partner in enumerate(grid.sums):
            assert ranked[partner].sums[step] == grid.rank


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32])
def test_the_transpose_partner_finished_the_rows_that_are_the_own_columns(ranks):
    ranked = grids(ranks)
    for grid in ranked:
        sender = ranked[grid.transpose]
        assert sender.own_rows[sender.send] == grid.own_columns


def test_on_four_ranks_three_pairs_communicate():
    assert pairs(4) == {frozenset(pair) for pair in [(0, 1), (2, 3), (1, 2)]}


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32])
def test_the_pairs_are_those_of_the_pattern_that_nodes_are_chosen_by(ranks):
    assert pairs(ranks) == {frozenset(edge[:2]) for edge in named("cg", ranks).edges}


@pytest.mark.parametrize("ranks", [0, 3, 6, 12])
def test_other_numbers_of_ranks_are_refused_by_name(ranks):
    with pytest.raises(InputError, match=f"ranks is {ranks}; accepted is a power of two"):
        make_grid(0, ranks, SIZE)
