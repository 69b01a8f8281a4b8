"""The scalar wave of two sources: the same bits for any ranks and shares, its energy, what it refuses, and its stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridportal.workloads.wave_sources import pushes
from gridportal.workloads.wave_stencil import COUPLING, advance, chunk_of, energy
from tests.gridportal.workloads import mpi

CACTUS = "gridportal.workloads.cactus"
SMALL = ["--x", "19", "--y", "23", "--z", "30", "--iterations", "70"]


def result(run_dir: Path) -> dict[str, Any]:
    return mpi.events(run_dir)[-1]


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    run_dir = tmp_path_factory.mktemp("serial")
    done = mpi.run(1, CACTUS, *SMALL, run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return result(run_dir)


@pytest.mark.parametrize(
    ("ranks", "shares"),
    [(3, "0.2,12,1"), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((2, "146,54"), (4, "")))],
)
def test_the_field_is_that_of_one_rank_bit_for_bit(
    ranks: int, shares: str, serial: dict[str, Any], tmp_path: Path
) -> None:
    done = mpi.run(ranks, CACTUS, *SMALL, "--shares", shares, run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)["verified"] is True
    assert result(tmp_path)["figures"]["checksum"] == serial["figures"]["checksum"]


def test_the_energy_is_the_work_of_the_sources_to_rounding(serial: dict[str, Any]) -> None:
    assert 0 < serial["figures"]["error"] < 1e-12


def test_phases_cover_all_iterations_and_tell_the_planes(tmp_path: Path) -> None:
    mpi.run(2, CACTUS, *SMALL, "--shares", "2,1", "--every", "25", run_dir=tmp_path)
    start, phases = mpi.events(tmp_path)[0], mpi.phases(tmp_path)
    assert start["planes"] == [20, 10]
    assert [phase["phase"] for phase in phases] == ["init", "evolve", "evolve", "evolve", "verify"]
    assert all(phase["communicate"] > 0 and phase["compute"] > 0 for phase in phases[1:4])


@pytest.mark.parametrize("ranks", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_ends_with_the_same_bits(ranks: int, serial: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "stop").touch()
    assert mpi.run(2, CACTUS, *SMALL, "--shares", "3,1", run_dir=tmp_path).returncode == 0
    assert {"stopped"} <= {event["event"] for event in mpi.events(tmp_path)}
    (tmp_path / "progress.jsonl").unlink()
    done = mpi.run(ranks, CACTUS, *SMALL, run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)["figures"]["checksum"] == serial["figures"]["checksum"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--x", "1"], "error: x is 1; accepted is a whole number from 2 to 2000."),
        (["--shares", "1,2,3"], "error: shares is '1,2,3'; accepted is 2 numbers above 0 with commas between"),
        (["--shares", "1,-2"], "error: shares is '1,-2'; accepted is 2 numbers above 0"),
        (["--shares", "1,some"], "error: shares is '1,some'; accepted is 2 numbers above 0"),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    done = mpi.run(2, CACTUS, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1


def test_more_ranks_than_planes_are_refused() -> None:
    done = mpi.run(4, CACTUS, "--z", "3")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: ranks is 4; accepted is at most 3, a rank for each plane of z.")


def standing(points: int, halved: int) -> np.ndarray:
    """A box in the mode of `halved` half waves a side, with a plane of zeros at either end of z."""
    side = np.sin(np.arange(1, points + 1) * halved * np.pi / (points + 1))
    return np.pad(side[:, None, None] * side[None, :, None] * side[None, None, :], ((1, 1), (0, 0), (0, 0)))


def test_a_standing_wave_swings_with_the_frequency_of_the_stencil() -> None:
    points, steps = 15, 200
    angle = np.arccos(1 - 6 * COUPLING * np.sin(np.pi / (2 * (points + 1))) ** 2)
    mode = standing(points, 1)
    now, before = mode.copy(), mode * np.cos(angle)
    buffer = np.empty((chunk_of(points, points, points), points, points))
    began = energy(now, before, buffer)
    for _ in range(steps):
        advance(now, before, buffer)
        now, before = before, now
    assert np.abs(now - mode * np.cos(steps * angle)).max() < 1e-11
    assert energy(now, before, buffer) == pytest.approx(began, rel=1e-11)


def test_the_frequency_tends_to_that_of_the_wave_equation_by_the_square_of_the_spacing() -> None:
    def error(points: int) -> float:
        angle = np.arccos(1 - 6 * COUPLING * np.sin(np.pi / (2 * (points + 1))) ** 2)
        return abs(angle / (np.sqrt(3 * COUPLING) * np.pi / (points + 1)) - 1)

    assert error(15) / error(31) == pytest.approx(4, rel=0.05)


def test_sources_give_each_plane_the_same_bits_whoever_asks() -> None:
    shape = (20, 24, 28)
    whole = {push.start[1:]: push for push in pushes(7, shape, 0, 20)}
    for push in pushes(7, shape, 8, 3):
        of_all = whole[push.start[1:]]
        begin = push.start[0] - of_all.start[0]
        assert np.array_equal(push.values, of_all.values[begin : begin + len(push.values)])
    assert pushes(7, shape, 0, 2) == []
