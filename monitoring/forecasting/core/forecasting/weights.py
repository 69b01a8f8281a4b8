"""How much each predictor says in the mixture: as much as its errors so far make it likely.

Errors are taken as double exponential of unknown width. Then a predictor whose mean error over n forecasts is m has the
likelihood m^-n, which knows no scale, and mixing by it costs at most a factor p^(-1/n) in width against a predictor
that began with the share p. Which one is best changes with the load, and how fast it changes nobody knows. So this is
done for several memories, from all forecasts to about the last ten, and these mixtures are mixed in turn, by the same
rule. The last value is mixed there once more: where nothing else is to be learnt it is soon trusted.

What is forecast is the middle of what they say and not its mean, because errors count by their distance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from monitoring.forecasting.core.forecasting.family import FITTED, KINDS, PREDICTORS
from monitoring.forecasting.core.forecasting.part import Array

#: What each new error leaves of the earlier ones, for each of the mixtures that are mixed.
MEMORIES = (1.0, 0.98, 0.9)
# The power of the likelihood that each of them weighs by. Where errors are forgotten chance always has its say, and the
# predictors err together: there n errors count as half as many. A root of the likelihood finds the right one under
# weaker conditions than the likelihood itself (Walker and Hjort, On Bayesian consistency, J. R. Stat. Soc. B 63, 2001).
_ROOT = 0.5
_POWERS = (1.0, _ROOT, _ROOT)
_TRUST = 0.99  # the same, where these mixtures and the last value are judged
_MIXED, _TRIED = len(MEMORIES), len(MEMORIES) + 1
ROWS = _MIXED + _TRIED + len(MEMORIES) * len(PREDICTORS)
_LAST = PREDICTORS.index("last value")
_DOUBT = 2.0  # before any forecast each predictor has this many mean errors, so that one lucky hit does not decide


def _shares() -> Array:
    """Each kind of predictor says as much as another, however many of its kind there are, and the last value is a kind.
    Within a kind a predictor says the less, the more coefficients it has to learn before it is any good."""
    easy = 1.0 / np.array(FITTED)
    kind = np.array([sum(part for part, other in zip(easy, KINDS, strict=True) if other == one) for one in KINDS])
    shares: Array = easy / kind / len(set(KINDS))
    return shares


#: What each predictor says before any forecast, with the sum 1.
SHARES = _shares()
_PRIOR = np.log(SHARES)[:, None]
# Each mixture, then the last value: the shorter a mixture's memory, the more chance has its way with it, which costs
# series of sudden peaks most.
_FIRST = np.log(np.array([8.0, 4.0, 1.0, 1.0]))[:, None]
_ROUNDS = 3  # towards the middle: 99 of 100 times what is left then is less than a hundredth of the width


def learn(state: Array, predictions: Array, x: Array, has_forecast: NDArray[np.bool_]) -> None:
    """Take the errors of the last forecasts, `predictions` (predictors, B), of the samples `x` (B,) into `state` (ROWS,
    B), in place. Not where `has_forecast` (B,) is false."""
    mixed, trust, sums = _open(state)
    errors = np.where(has_forecast, np.abs(predictions - x), 0.0)
    trust *= _TRUST
    trust[:_MIXED] += np.where(has_forecast, np.abs(mixed - x), 0.0)
    trust[_MIXED] += errors[_LAST]
    for memory, of_memory in zip(MEMORIES, sums, strict=True):
        if memory != 1.0:
            of_memory *= memory
        of_memory += errors


def mix(state: Array, predictions: Array, forecasts: Array, width: Array) -> Array:
    """What the mixture says (B,) when the predictors say `predictions`, after `forecasts` (B,) errors were learnt; its
    own were `width` (B,) in the mean.

    Sums of distances from the last value, so that predictors that agree give exactly what they say.
    """
    mixed_each, trust, sums = _open(state)
    last = predictions[_LAST]
    away = predictions - last
    share = _trusted(trust, forecasts)
    total = np.zeros_like(predictions)
    for row, part, weights in zip(mixed_each, share, _of_memories(sums, forecasts), strict=False):
        np.einsum("pb,pb->b", weights, away, out=row)
        row += last
        weights *= part
        total += weights
    total[_LAST] += share[_MIXED]
    mixed: Array = last + _middle(total, away, width)
    return mixed


def weigh(state: Array, forecasts: Array) -> Array:
    """How much each predictor says in the mixture: weights (predictors, B), each column with the sum 1."""
    _, trust, sums = _open(state)
    share = _trusted(trust, forecasts)
    total = np.zeros(sums.shape[1:])
    for part, weights in zip(share, _of_memories(sums, forecasts), strict=False):
        total += part * weights
    total[_LAST] += share[_MIXED]
    return total


def counted(forecasts: Array, memory: float) -> Array:
    """The sum of the weights of that many errors.

    >>> counted(np.array([2.0]), 0.5)
    array([1.5])
    """
    if memory == 1.0:
        return forecasts
    many: Array = (1.0 - memory**forecasts) / (1.0 - memory)
    return many


def heaviest(weights: Array) -> NDArray[np.int16]:
    """The predictor (B,) that says most."""
    chosen: NDArray[np.int16] = weights.argmax(axis=0).astype(np.int16)
    return chosen


def _open(state: Array) -> tuple[Array, Array, Array]:
    """What each mixture said (memories, B), sums of the errors of these and of the last value (memories + 1, B), and
    of every predictor (memories, predictors, B)."""
    begin = _MIXED + _TRIED
    return state[:_MIXED], state[_MIXED:begin], state[begin:].reshape(len(MEMORIES), len(PREDICTORS), -1)


def _of_memories(sums: Array, forecasts: Array) -> Iterator[Array]:
    """The weights (predictors, B) of each mixture in turn."""
    for memory, power, of_memory in zip(MEMORIES, _POWERS, sums, strict=True):
        yield _likely(of_memory, counted(forecasts, memory), _PRIOR, power)


def _trusted(trust: Array, forecasts: Array) -> Array:
    return _likely(trust, counted(forecasts, _TRUST), _FIRST, _ROOT)


def _likely(sums: Array, many: Array, prior: Array, power: float) -> Array:
    mean = sums.mean(axis=0) / np.maximum(many, 1.0)
    has_error = mean > 0.0
    likely = np.where(has_error, sums, 1.0)
    likely /= np.where(has_error, mean, 1.0)
    likely += _DOUBT
    np.log(likely, out=likely)
    likely *= -power * (many + _DOUBT)
    likely += prior
    likely -= likely.max(axis=0)
    np.exp(likely, out=likely)
    likely /= likely.sum(axis=0)
    return likely


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _middle(weights: Array, places: Array, width: Array) -> Array:
    """About the median (B,) of what comes if each predictor's `places` (predictors, B) comes with its weight and an
    error of about `width`: near ones count by their mean, one far from the others no more than that it is there.

    It has the least sum of weights * sqrt(distance^2 + width^2), found by reweighting from the mean on (Weiszfeld).
    """
    middle: Array = np.einsum("pb,pb->b", weights, places)
    per = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0.0)
    for _ in range(_ROUNDS):
        pull = places - middle
        pull *= per
        pull *= pull
        pull += 1.0
        np.sqrt(pull, out=pull)
        np.divide(weights, pull, out=pull)
        better = np.einsum("pb,pb->b", pull, places) / pull.sum(axis=0)
        np.copyto(middle, better, where=np.isfinite(better))
    return middle
