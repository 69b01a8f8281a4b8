import json

import numpy as np
import pytest

from gridportal.base.errors import InputError
from gridportal.workloads.airshed_chemistry import CO, O3, nitrogen, react
from gridportal.workloads.airshed_input import LAYERS, PLANES, SPECIES, first_field, read_hour, unpack
from gridportal.workloads.airshed_layout import check_ranks, share
from gridportal.workloads.airshed_transport import transport
from tests.gridportal.workloads import mpi

AIRSHED = "gridportal.workloads.airshed"
SIZE = 12


@pytest.fixture
def blobs():
    """Every plane different, with sharp edges."""
    field = np.random.default_rng(3).random((PLANES, SIZE, SIZE)) * 0.01
    field[:, 4:7, 5:8] += np.arange(1, PLANES + 1)[:, None, None]
    return field.reshape(PLANES, -1)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("alone")
    done = mpi.run(1, AIRSHED, "--class", "S", run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return mpi.events(run_dir)


@pytest.mark.parametrize("ranks", [5, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 3))])
def test_the_checksum_is_that_of_one_rank(ranks, alone, tmp_path):
    done = mpi.run(ranks, AIRSHED, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = mpi.events(tmp_path)[-1]["figures"]
    assert figures["checksum"] == pytest.approx(alone[-1]["figures"]["checksum"], rel=1e-12)
    assert figures["highest_ozone"] == alone[-1]["figures"]["highest_ozone"]


def test_one_rank_is_verified_and_keeps_all_nitrogen(alone):
    assert alone[-1]["verified"] is True
    assert alone[-1]["figures"]["nitrogen_error"] < 1e-13


def test_every_hour_runs_through_its_phases(alone):
    start, *phases, _ = alone
    assert (start["program"], start["class"]) == ("airshed", "S")
    step = ["transport", "to_columns", "chemistry", "to_planes", "transport"]
    assert [phase["phase"] for phase in phases] == ["init"] + (["input"] + step * 4 + ["output"]) * 3
    assert [phase["iteration"] for phase in phases if phase["phase"] == "output"] == [1, 2, 3]


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 5))])
def test_a_field_survives_both_exchanges_and_the_gathering(ranks):
    done = mpi.run(ranks, "tests.gridportal.workloads.airshed_exchange")
    assert json.loads(done.stdout) == {"columns": True, "planes": True, "gathered": True}


@pytest.mark.parametrize("number", [0, 5])
def test_transport_keeps_the_mass_of_every_plane_and_makes_no_negative_air(blobs, number):
    moved = transport(blobs, range(PLANES), read_hour(number, SIZE), 20)
    assert moved.sum(axis=1) == pytest.approx(blobs.sum(axis=1), rel=1e-12)
    assert moved.min() >= 0.0
    assert np.abs(moved - blobs).max() > 0.1


def test_transport_of_some_planes_is_that_of_all(blobs):
    hour, some = read_hour(2, SIZE), share(PLANES, 1, 3)
    moved = transport(blobs[some.start : some.stop], some, hour, 3)
    assert np.array_equal(moved, transport(blobs, range(PLANES), hour, 3)[some.start : some.stop])


def test_even_air_stays_even_in_any_wind():
    field = first_field(SIZE)
    assert transport(field, range(PLANES), read_hour(1, SIZE), 10) == pytest.approx(field, rel=1e-12)


def test_chemistry_keeps_nitrogen_and_makes_no_negative_air():
    air, sun, clean = first_field(SIZE), np.ones(SIZE**2), np.zeros((len(SPECIES), SIZE**2))
    later = react(air, sun, clean, 2.0, 200)
    assert nitrogen(later) == pytest.approx(nitrogen(air), rel=1e-12)
    assert later.min() >= 0.0
    assert later.reshape(LAYERS, len(SPECIES), -1)[0, CO, 0] < air.reshape(LAYERS, len(SPECIES), -1)[0, CO, 0]


def test_ozone_needs_the_sun():
    air, clean = first_field(SIZE), np.zeros((len(SPECIES), SIZE**2))
    day, night = (react(air, light * np.ones(SIZE**2), clean, 2.0, 100) for light in (1.0, 0.0))
    ground = O3
    assert (day[ground] > night[ground]).all()


def test_an_hour_is_the_same_after_packing():
    hour = read_hour(4, SIZE)
    again = unpack(hour.pack(), SIZE)
    assert all(np.array_equal(getattr(hour, name), getattr(again, name)) for name in ("east", "north", "sun"))
    assert np.array_equal(hour.emissions, again.emissions)
    assert not hour.east[..., [0, -1]].any()


def test_an_unknown_class_gets_one_sentence_and_exit_code_2():
    done = mpi.run(2, AIRSHED, "--class", "Q")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "error: class is 'Q'; accepted is one of S, W, A."


def test_more_ranks_than_planes_are_refused():
    check_ranks(PLANES)
    with pytest.raises(InputError, match="ranks is 41; accepted is 1 to 40, the number of planes"):
        check_ranks(41)
