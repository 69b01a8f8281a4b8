import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.heat_grid import piece, process_grid
from scheduling.jobs.core.patterns import named


def halo_pairs(ranks):
    """Pairs of ranks next to each other on the grid, counted along its rows as MPI's Cartesian grids do."""
    down, across = process_grid(ranks, 512, 512)
    places = {(rank // across, rank % across): rank for rank in range(down * across)}
    return {
        frozenset((rank, places[neighbour]))
        for (row, column), rank in places.items()
        for neighbour in [(row + 1, column), (row, column + 1)]
        if neighbour in places
    }


@pytest.mark.parametrize("ranks", range(1, 65))
def test_halos_run_along_the_edges_of_the_pattern_that_nodes_are_chosen_by(ranks):
    assert halo_pairs(ranks) == {frozenset(edge[:2]) for edge in named("mesh-2d", ranks).edges}


@pytest.mark.parametrize(("points", "parts"), [(1, 1), (7, 3), (64, 8), (10, 10)])
def test_pieces_cover_all_points_once_and_none_is_empty(points, parts):
    pieces = [range(points)[piece(points, part, parts)] for part in range(parts)]
    assert [point for own in pieces for point in own] == list(range(points))
    assert all(pieces)


def test_more_blocks_than_points_are_refused():
    with pytest.raises(InputError, match="ranks is 8; accepted is fewer ranks: 9 x 3 points"):
        process_grid(8, 9, 3)
