"""What holds of the mixture whatever the series."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gridportal.base.errors import InputError
from monitoring.forecasting.core.forecasting import (
    PREDICTORS,
    Mixture,
    forecast_each_over,
    forecast_over,
    forecast_series,
)
from monitoring.forecasting.core.forecasting.family import KINDS
from monitoring.forecasting.core.forecasting.weights import SHARES, _middle
from tests.examples import examples
from tests.monitoring.forecasting.core.forecasting.scores import score, scores
from tests.monitoring.forecasting.core.forecasting.traces import by_kind, generated, recorded

tables = arrays(float, st.tuples(st.integers(1, 50), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32))


def fed(table: np.ndarray, mixture: Mixture | None = None) -> Mixture:
    mixture = mixture or Mixture(table.shape[1])
    for row in table:
        mixture.update(row)
    return mixture


def same(a: Mixture, b: Mixture) -> bool:
    return a.dumps() == b.dumps()


@settings(deadline=None, max_examples=examples(10, fuzz=25))
@given(tables, st.integers(-40, 40))
def test_a_series_in_another_unit_has_the_same_forecasts_in_that_unit(table, power):
    plain, scaled = fed(table).forecast(), fed(table * 2.0**power).forecast()
    assert np.array_equal(scaled.value, plain.value * 2.0**power)
    assert np.array_equal(scaled.error, plain.error * 2.0**power, equal_nan=True)
    assert np.array_equal(scaled.predictor, plain.predictor)


def test_bits_per_second_are_forecast_like_fractions():
    values = np.random.default_rng(3).random(200)
    plain, scaled = forecast_series(values), forecast_series(values * 1e9 / 3)
    assert scaled.value[1:] == pytest.approx(plain.value[1:] * 1e9 / 3, rel=1e-9)


def rounding(table):
    """What the order of sums may change: numpy adds one column in another order than many."""
    return 1e-9 * float(np.max(np.abs(table), initial=1e-3))


@settings(deadline=None, max_examples=examples(10, fuzz=25))
@given(tables)
def test_a_series_does_not_notice_its_neighbours(table):
    together = fed(table).forecast()
    for number in range(table.shape[1]):
        alone = fed(table[:, [number]]).forecast()
        assert together.value[number] == pytest.approx(alone.value[0], rel=1e-9, abs=rounding(table))


@settings(deadline=None, max_examples=examples(10, fuzz=25))
@given(tables, st.data())
def test_a_missing_value_changes_nothing(table, data):
    there = data.draw(arrays(bool, table.shape))
    gaps = fed(np.where(there, table, np.nan))
    masked = Mixture(table.shape[1])
    for row, present in zip(table, there, strict=True):
        masked.update(row, present)
    assert same(gaps, masked)
    for number in range(table.shape[1]):
        kept = table[there[:, number], number]
        alone = fed(kept[:, None], Mixture(1)).forecast().value[0]
        assert gaps.forecast().value[number] == pytest.approx(alone, rel=1e-9, abs=rounding(table), nan_ok=True)


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 123456789.123, -7e-30])
def test_a_constant_is_forecast_exactly_and_without_error(value):
    found = forecast_series([value] * 80)
    assert np.all(found.value[1:] == value)
    assert np.all(found.error[2:] == 0)


def test_before_the_first_sample_nothing_is_known_and_before_the_second_no_error():
    found = forecast_series([5.0])
    assert np.isnan(found.value[0])
    assert (found.value[1], found.predictor.tolist()) == (5.0, [-1, found.predictor[1]])
    assert np.isnan(found.error).all()


def test_after_a_step_the_forecast_follows_and_a_spike_is_forgotten():
    step = forecast_series([1.0] * 100 + [9.0] * 12)
    assert step.value[-1] == pytest.approx(9.0, rel=0.05)
    noise = np.random.default_rng(5).normal(10, 0.1, size=100)
    spiky = np.concatenate([noise[:50], [1e6], noise[50:]])
    assert forecast_series(spiky).value[-1] == pytest.approx(10, abs=0.5)


def test_no_forecast_is_negative_where_nothing_ever_was():
    falling = np.concatenate([np.linspace(10, 0, 40), np.zeros(3)])
    assert np.all(forecast_series(falling).value[1:] >= 0)


@settings(deadline=None, max_examples=examples(10, fuzz=25))
@given(arrays(float, st.integers(1, 60), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_whatever_is_measured_forecasts_stay_within_one_step_of_what_was_seen(values):
    seen = values[np.abs(values) <= 1e100]
    last = forecast_series(values).value[-1]
    if not len(seen):
        assert np.isnan(last)
        return
    step = np.abs(np.diff(seen)).max(initial=0.0)
    room = 1e-9 * (np.abs(seen).max() + step)
    assert seen.min() - step - room <= last <= seen.max() + step + room


def test_a_long_life_stays_sound():
    rng = np.random.default_rng(8)
    mixture = Mixture(1)
    for value in np.concatenate([rng.normal(1e9, 1e3, 1000), np.full(3000, 1e9), rng.normal(1e9, 1e3, 300)]):
        mixture.update(np.array([value]))
    found = mixture.forecast()
    assert abs(found.value[0] - 1e9) < 1e3
    assert found.error[0] == pytest.approx(1e3 * np.sqrt(2 / np.pi), rel=0.5)


@settings(deadline=None, max_examples=examples(8, fuzz=20))
@given(tables, st.integers(0, 1030))
def test_new_series_come_without_touching_the_old(table, more):
    grown = fed(table)
    before = grown.forecast().value
    grown.grow(table.shape[1] + more)
    after = grown.forecast()
    assert np.array_equal(after.value[: table.shape[1]], before)
    assert np.isnan(after.value[table.shape[1] :]).all()
    assert grown.predictions().shape == (len(PREDICTORS), table.shape[1] + more)


def test_a_mixture_over_several_blocks_is_restored_exactly():
    table = np.random.default_rng(2).random((40, 2500))
    table[5, ::3] = np.nan
    mixture = fed(table)
    copy = Mixture.loads(mixture.dumps())
    assert same(copy, mixture)
    assert same(fed(table[:4], copy), fed(table[:4], mixture))
    assert len(mixture.dumps()) / 2500 < 4096


@pytest.mark.parametrize("state", [b"", b"GPF1", b"x" * 500, Mixture(3).dumps()[:-1], b"XXXX" + Mixture(1).dumps()[4:]])
def test_foreign_bytes_are_refused(state):
    with pytest.raises(InputError, match="state"):
        Mixture.loads(state)


def test_arrays_of_another_size_are_refused():
    with pytest.raises(InputError, match=r"values is .*\(3,\).*each of the 2 series"):
        Mixture(2).update(np.zeros(3))
    with pytest.raises(InputError, match="present"):
        Mixture(2).update(np.zeros(2), np.array([True]))
    with pytest.raises(InputError, match="at least the 2"):
        Mixture(2).grow(1)


def adversary(samples: int) -> np.ndarray:
    """Always the one of 0 and 1 that is further from the mixture's forecast."""
    mixture, values = Mixture(1), [0.0]
    for _ in range(samples):
        mixture.update(np.array(values[-1:]))
        values.append(float(mixture.forecast().value[0] < 0.5))
    return np.array(values)


ADVERSARIES = {
    "adversary": None,  # made by the test: every process of a run reads this file
    "alternating": np.tile([0.0, 1.0], 200),
    "sawtooth": np.tile(np.arange(7.0), 60),
    "regimes": np.concatenate([np.cumsum(np.random.default_rng(k).normal(size=100)) * (k % 2) for k in range(6)]),
    "walk": np.cumsum(np.random.default_rng(1).normal(size=400)),
    "noise": np.random.default_rng(2).normal(size=400),
    "spikes": (np.random.default_rng(3).random(400) < 0.03) * 1e6,
    "heavy": np.random.default_rng(4).pareto(1.1, 400),
    "sine": np.sin(np.arange(400) / 9),
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_the_mixture_pays_no_more_than_its_rule_promises(name):
    """5 % of the best predictor's error, and while it learns, which one is best and that nothing need be forgotten:
    ln 1/share of that predictor, and of the mixture that forgets nothing, whose share is 4 in 7 at the start and counts
    half, 2 ln 7/4, times the mean distance from the middle."""
    values = adversary(400) if name == "adversary" else ADVERSARIES[name]
    found = score(values)
    learning = (2 * np.log(7 / 4) - np.log(SHARES[found.each.argmin()])) * np.abs(values - np.median(values)).mean()
    assert found.mixture <= 1.05 * found.each.min() + learning / len(values)


def test_before_any_forecast_kinds_say_the_same_and_long_autoregressions_little():
    for kind in set(KINDS):
        of_kind = [share for share, other in zip(SHARES, KINDS, strict=True) if other == kind]
        assert sum(of_kind) == pytest.approx(1 / len(set(KINDS)))
    shares = dict(zip(PREDICTORS, SHARES, strict=True))
    assert shares["autoregressive 1"] == pytest.approx(16 * shares["autoregressive 16"])
    assert shares["trimmed mean of 17"] == pytest.approx(shares["mean of 4"])


def test_predictors_far_from_the_others_say_no_more_than_that_they_are_there():
    """Of equal ones at 0, 1 and 1000 the middle is with the two when the errors are small, and the mean when they are
    large or not known."""
    weights, places = np.full((3, 3), 1 / 3), np.array([[0.0], [1.0], [1000.0]]).repeat(3, axis=1)
    middle = _middle(weights, places, np.array([1e-3, 1e6, 0.0]))
    assert middle[0] < 100
    assert middle[1] == pytest.approx(1001 / 3, rel=1e-3)
    assert middle[2] == pytest.approx(1001 / 3)


def test_a_first_peak_is_not_forecast_to_stay():
    """One sample far from all before it: the predictors that follow it at once are outvoted, not averaged in."""
    quiet = [2.0, 3.0, 2.0, 4.0, 2.0, 3.0, 2.0, 2.0]
    said = forecast_series([*quiet, 100.0]).value[-1]
    assert said < 30


@pytest.mark.parametrize("kind", ["load", "messages"])
def test_on_generated_traces_the_mixture_is_as_good_as_the_best_and_better_than_the_last_value(kind):
    found = scores(by_kind(generated(8, 300))[kind]).values()
    assert max(one.to_best for one in found) <= 1.05
    assert max(one.to_last for one in found) < 1.0


@pytest.mark.parametrize("kind", ["planetlab-cpu", "mobile-bandwidth"])
def test_on_recorded_traces_too_over_all_of_a_kind(kind):
    found = scores(by_kind(recorded())[kind]).values()
    assert np.mean([one.to_best for one in found]) <= 1.025
    assert np.mean([one.to_best <= 1.05 for one in found]) >= 0.97
    assert np.mean([one.to_last for one in found]) < 1.0


def test_over_a_longer_time_the_mean_of_that_time_is_forecast():
    rng = np.random.default_rng(6)
    at = np.arange(0, 36_000, 10.0)
    values = rng.normal(10, 3, len(at))
    one, many = forecast_over(at, values, 10, at[-1]), forecast_over(at, values, 600, at[-1])
    assert many.value[0] == pytest.approx(10, abs=1)
    assert many.error[0] < one.error[0] / 4  # the mean of 60 samples varies 7.7 times less
    assert one.value[0] == pytest.approx(forecast_series(values[-512:]).value[-1])


def test_over_a_longer_time_than_the_past_covers_the_next_sample_stands_in():
    at, values = np.arange(50.0), np.random.default_rng(7).random((50, 2))
    values[:, 1] = np.nan
    far = forecast_over(at, values, 40, 49)
    assert far.value[0] == pytest.approx(forecast_series(values[:, 0]).value[-1])
    assert np.isnan(far.value[1])
    assert np.isnan(forecast_over([], np.empty((0, 1)), 5, 0).value).all()
    with pytest.raises(InputError, match="seconds"):
        forecast_over(at, values, 0, 49)


def test_series_that_were_sampled_apart_are_forecast_as_each_alone():
    rng = np.random.default_rng(9)
    series = [(np.sort(rng.uniform(0, 1000, many)), rng.random(many)) for many in (300, 40, 3, 0)]
    series[0][1][::7] = np.nan
    together = forecast_each_over(series, 20, 990)
    for number, (at, values) in enumerate(series[:3]):
        there = np.isfinite(values)
        alone = forecast_over(at[there], values[there], 20, 990)
        assert together.value[number] == pytest.approx(alone.value[0], rel=1e-9)
        assert together.error[number] == pytest.approx(alone.error[0], rel=1e-9)
    assert np.isnan(together.value[3])
    assert not len(forecast_each_over([], 20, 990).value)
    with pytest.raises(InputError, match="seconds"):
        forecast_each_over(series, np.nan, 990)
