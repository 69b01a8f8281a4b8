"""Forecasts beside live values: they follow what is recorded, whoever records, and come back after a restart."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from monitoring.forecasting import selectors
from monitoring.forecasting.core.forecasting import PREDICTORS, Mixture
from monitoring.forecasting.services import forecasts
from monitoring.history.core.samples import Sample
from monitoring.history.models import Snapshot
from monitoring.history.selectors import series
from monitoring.history.services import compaction
from monitoring.telemetry.services import readings

pytestmark = pytest.mark.django_db
NOW = float(int(timezone.now().timestamp()))
SERIES = np.random.default_rng(3).random((2, 40)).round(3)


def record(start: int, end: int, cluster: str = "grid") -> None:
    """Samples `start` up to `end` of both series, one after the other."""
    for turn in range(start, end):
        at = NOW - 3000 + 60 * turn
        samples = [Sample(f"n{place}", "cpu", at, SERIES[place, turn]) for place in (0, 1)]
        readings.record_readings(cluster, "test", samples)


def expected(count: int) -> list[float]:
    mixture = Mixture(2)
    for turn in range(count):
        mixture.update(SERIES[:, turn])
    return mixture.forecast().value.tolist()


def said(cluster: str = "grid") -> list[float]:
    found = [selectors.forecast(cluster, f"n{place}", "cpu") for place in (0, 1)]
    return [float("nan") if one is None else one.value for one in found]


def file() -> Path:
    return forecasts._path(Snapshot.objects.get().cluster_id)


def test_a_forecast_is_what_the_mixture_says_after_the_samples_so_far() -> None:
    assert selectors.forecast("grid", "n0", "cpu") is None
    record(0, 12)
    found = selectors.forecast("grid", "n0", "cpu")
    assert found is not None
    assert said() == pytest.approx(expected(12), rel=1e-6)
    assert found.predictor in PREDICTORS
    assert found.error > 0
    assert found.at == NOW - 3000 + 60 * 11


def test_many_samples_at_once_count_one_by_one() -> None:
    samples = [
        Sample(f"n{place}", "cpu", NOW - 3000 + 60 * turn, SERIES[place, turn])
        for turn in range(12)
        for place in (0, 1)
    ]
    readings.record_readings("grid", "test", samples[::-1])
    assert said() == pytest.approx(expected(12), rel=1e-6)


def test_late_and_doubled_samples_move_no_forecast() -> None:
    record(0, 12)
    before = said()
    record(3, 9)
    readings.record_readings("grid", "test", [Sample("n0", "cpu", NOW - 9000, 1.0)])
    assert said() == before


@pytest.mark.parametrize("moved", [False, True])
def test_a_lost_file_is_made_again_from_the_history(moved: bool) -> None:
    record(0, 12)
    if moved:
        compaction.compact("grid", everything=True)
    file().unlink()
    record(12, 20)
    assert said() == pytest.approx(expected(20), rel=1e-6)


def test_what_another_machine_recorded_in_between_is_replayed(tmp_path: Path) -> None:
    record(0, 6)
    older = file().read_bytes()
    record(6, 12)
    file().write_bytes(older)
    record(12, 14)
    assert said() == pytest.approx(expected(14), rel=1e-6)


def test_a_file_of_another_portal_counts_for_nothing() -> None:
    record(0, 6)
    foreign = bytearray(file().read_bytes())
    foreign[16:48] = b"0" * 32
    file().write_bytes(bytes(foreign))
    record(6, 8)
    assert said() == pytest.approx(expected(8), rel=1e-6)


def test_a_series_that_comes_later_has_forecasts_too() -> None:
    record(0, 4)
    readings.record_readings("grid", "test", [Sample(f"m{number}", "load", NOW, 2.0) for number in range(1100)])
    found = selectors.forecast("grid", "m1099", "load")
    assert found is not None
    assert found.value == 2.0
    assert said() == pytest.approx(expected(4), rel=1e-6)


def test_a_full_disk_costs_the_forecasts_but_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    record(0, 6)
    file().unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        record(6, 8)
    assert selectors.forecast("grid", "n0", "cpu") is None
    assert series.live("grid")[("n0", "cpu")].value == SERIES[0, 7]
    record(8, 10)
    assert said() == pytest.approx(expected(10), rel=1e-6)
