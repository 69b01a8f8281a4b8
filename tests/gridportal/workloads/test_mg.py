import itertools

import numpy as np
import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.mg_charges import own_points, place_charges
from gridportal.workloads.mg_halo import Halo
from gridportal.workloads.mg_levels import make_level, make_levels, process_grid
from gridportal.workloads.mg_stencils import A, Strips, interpolate, residual, restrict, smooth
from gridportal.workloads.randlc import Stream
from scheduling.jobs.core.patterns import named
from tests.gridportal.workloads import mpi
from tests.gridportal.workloads.one_rank import OneRank, no_clock

MG = "gridportal.workloads.mg"
INNER = (slice(1, -1),) * 3


def periodic(points, seed):
    """A random field of one rank with its halo."""
    field = np.zeros((points + 2,) * 3)
    field[INNER] = np.random.default_rng(seed).random((points,) * 3) - 0.5
    fill(field)
    return field


def fill(field):
    Halo(OneRank(), no_clock()).fill(field, make_level(0, 1, len(field) - 2))


def weighted(inner, weights):
    """The weighted sum over the 27 neighbours, weights by how many axes apart."""
    steps = itertools.product((-1, 0, 1), repeat=3)
    return sum(weights[sum(map(abs, step))] * np.roll(inner, step, axis=(0, 1, 2)) for step in steps)


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_class_s_reaches_the_official_norm(ranks, tmp_path):
    done = mpi.run(ranks, MG, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VERIFICATION SUCCESSFUL" in done.stdout
    start, *phases, result = mpi.events(tmp_path)
    assert (start["program"], start["ranks"]) == ("mg", ranks)
    assert [phase["phase"] for phase in phases] == ["init", "residual"] + ["v_cycle", "residual"] * 4
    assert result["figures"]["norm"] == pytest.approx(0.5307707005734e-04, rel=1e-8)


def test_class_w_reaches_the_official_norm(tmp_path):
    assert mpi.run(2, MG, "--class", "W", run_dir=tmp_path).returncode == 0
    assert mpi.events(tmp_path)[-1]["figures"]["norm"] == pytest.approx(0.6467329375339e-05, rel=1e-8)


@pytest.mark.slow
def test_ranks_that_have_no_point_of_the_coarsest_level_sit_it_out(tmp_path):
    assert sum(make_level(rank, 16, 2).alive for rank in range(16)) == 8
    assert mpi.run(16, MG, "--class", "S", run_dir=tmp_path).returncode == 0
    assert mpi.events(tmp_path)[-1]["figures"]["norm"] == pytest.approx(0.5307707005734e-04, rel=1e-8)


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32, 64])
def test_the_neighbours_are_those_of_the_pattern_that_nodes_are_chosen_by(ranks):
    partners = {rank: make_level(rank, ranks, 32).partners for rank in range(ranks)}
    pairs = {frozenset((rank, other)) for rank, others in partners.items() for other in others if rank != other}
    assert pairs == {frozenset(edge[:2]) for edge in named("mg", ranks).edges}


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16, 32, 64])
def test_each_level_is_covered_once_by_the_ranks_that_are_alive(ranks):
    for rank_levels in zip(*(make_levels(rank, ranks, 32) for rank in range(ranks)), strict=True):
        held = sum(np.prod([axis.length for axis in level.axes]) for level in rank_levels if level.alive)
        assert held == rank_levels[0].points ** 3


@pytest.mark.parametrize("ranks", [2, 4, 16, 64])
def test_neighbours_along_an_axis_agree_on_each_other(ranks):
    for levels in zip(*(make_levels(rank, ranks, 32) for rank in range(ranks)), strict=True):
        alive = [rank for rank in range(ranks) if levels[rank].alive]
        for rank, axis in itertools.product(alive, range(3)):
            place = levels[rank].axes[axis]
            assert levels[place.above].alive
            assert levels[place.above].axes[axis].below == rank
            assert not place.takes or levels[place.above].axes[axis].gives


def test_the_right_hand_side_has_its_charges_at_the_extreme_random_numbers():
    level = make_level(0, 1, 16)
    field = np.zeros(level.shape)
    place_charges(OneRank(), level, field)
    order = np.argsort(Stream(314159265).draw(16**3))
    charges = field[INNER].ravel()
    assert set(np.flatnonzero(charges == 1.0)) == set(order[-10:])
    assert set(np.flatnonzero(charges == -1.0)) == set(order[:10])


@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_the_ranks_share_out_the_points_of_the_finest_level(ranks):
    owned = [own_points(rank, ranks, make_level(rank, ranks, 32)) for rank in range(ranks)]
    points = {point for own in owned for point in itertools.product(*own)}
    assert len(points) == 32**3
    assert sum(np.prod([len(axis) for axis in own]) for own in owned) == 32**3


def test_the_residual_is_that_of_the_27_point_operator():
    u, v = periodic(8, seed=1), periodic(8, seed=2)
    r = np.zeros_like(u)
    residual(Strips(u.shape), u, v, r)
    assert np.allclose(r[INNER], v[INNER] - weighted(u[INNER], A), rtol=0, atol=1e-13)


def test_the_smoother_is_that_of_its_coefficients():
    r, u = periodic(8, seed=3), periodic(8, seed=4)
    c = (-3 / 8, 1 / 32, -1 / 64, 0.0)
    expected = u[INNER] + weighted(r[INNER], c)
    smooth(Strips(u.shape), r, u, c)
    assert np.allclose(u[INNER], expected, rtol=0, atol=1e-14)


def test_strips_do_not_change_the_result(monkeypatch):
    u, v = periodic(16, seed=5), periodic(16, seed=6)
    whole, pieces = np.zeros_like(u), np.zeros_like(u)
    residual(Strips(u.shape), u, v, whole)
    monkeypatch.setattr("gridportal.workloads.mg_stencils.STRIP", 3 * 18)
    residual(Strips(u.shape), u, v, pieces)
    assert np.array_equal(whole[INNER], pieces[INNER])


def test_restriction_is_half_the_transpose_of_interpolation():
    coarse, fine = periodic(4, seed=7), periodic(8, seed=8)
    interpolated, restricted = np.zeros_like(fine), np.zeros_like(coarse)
    interpolate(coarse, interpolated)
    restrict(fine, restricted)
    assert np.vdot(interpolated[INNER], fine[INNER]) == pytest.approx(2 * np.vdot(coarse[INNER], restricted[INNER]))


def test_interpolation_gets_the_halo_right_too():
    fine = np.zeros((10, 10, 10))
    interpolate(periodic(4, seed=9), fine)
    expected = fine.copy()
    fill(expected)
    assert np.allclose(fine, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("ranks", [0, 3, 6, 128])
def test_other_numbers_of_ranks_are_refused_by_name(ranks):
    with pytest.raises(InputError, match=f"ranks is {ranks}; accepted is a power of two"):
        process_grid(ranks)


def test_three_ranks_are_refused_in_one_sentence():
    done = mpi.run(3, MG)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: ranks is 3; accepted is a power of two such as 1, 2, 4 or 8, at most 64."
