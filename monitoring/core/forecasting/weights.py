"""How much each predictor says in the mixture: as much as its errors so far make it likely.

Errors are taken as double exponential of unknown width. Then a predictor whose mean error over n forecasts is m has the
likelihood m^-n, which knows no scale, and mixing by it costs at most a factor N^(1/n) in width against the best of N
predictors. Which one is best changes with the load, and how fast it changes nobody knows. So this is done for several
memories, from all forecasts to about the last ten, and these mixtures are mixed in turn, by the same rule.

The last value is mixed there once more: where nothing else is to be learnt it is soon trusted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitoring.core.forecasting.family import KINDS, PREDICTORS
from monitoring.core.forecasting.part import Array

#: What each new error leaves of the earlier ones, for each of the mixtures that are mixed.
MEMORIES = (1.0, 0.98, 0.9)
_TRUST = 0.99  # the same, where these mixtures and the last value are judged
_SAID, _TRIED = len(MEMORIES), len(MEMORIES) + 1
ROWS = _SAID + _TRIED + len(MEMORIES) * len(PREDICTORS)
_LAST = PREDICTORS.index("last value")
_DOUBT = 2.0  # before any forecast each predictor has this many mean errors, so that one lucky hit does not decide
# Each kind of predictor has the same say before any forecast, however many of its kind there are; the last value, which
# all others have to beat, counts as two kinds: in short series that wander the others would cost more than they bring.
_PRIOR = np.log(np.array([(1.0 + (kind == "last value")) / KINDS.count(kind) for kind in KINDS]))[:, None]
# Each of them, then the last value: the shorter a mixture's memory, the more chance has its way with it, which costs
# series of sudden peaks most.
_FIRST = np.log(np.array([8.0, 4.0, 1.0, 1.0]))[:, None]
# The mixtures say nearly the same and err together: n of their errors tell them apart as well as half as many would.
_TOGETHER = 0.5


def learn(state: Array, told: Array, x: Array, known: NDArray[np.bool_]) -> None:
    """Take the errors of the last forecasts, `told` (predictors, B), of the samples `x` (B,) into `state` (ROWS, B), in
    place. Not where `known` (B,) is false, for nothing was forecast there."""
    said, trust, sums = _open(state)
    errors = np.where(known, np.abs(told - x), 0.0)
    trust *= _TRUST
    trust[:_SAID] += np.where(known, np.abs(said - x), 0.0)
    trust[_SAID] += errors[_LAST]
    for memory, of_memory in zip(MEMORIES, sums, strict=True):
        if memory != 1.0:
            of_memory *= memory
        of_memory += errors


def mix(state: Array, told: Array, forecasts: Array) -> Array:
    """What the mixture says (B,) when the predictors say `told`, after `forecasts` (B,) errors were learnt.

    Sums of distances from the last value, so that predictors that agree give exactly what they say.
    """
    said, trust, sums = _open(state)
    last = told[_LAST]
    away = told - last
    for row, memory, of_memory in zip(said, MEMORIES, sums, strict=True):
        weights = _likely(of_memory, counted(forecasts, memory), _PRIOR)
        np.einsum("pb,pb->b", weights, away, out=row)
        row += last
    share = _trusted(trust, forecasts)
    mixed: Array = last + (share[:_SAID] * (said - last)).sum(axis=0)
    return mixed


def weigh(state: Array, forecasts: Array) -> Array:
    """How much each predictor says in the mixture: weights (predictors, B), each column with the sum 1."""
    _, trust, sums = _open(state)
    share = _trusted(trust, forecasts)
    total = np.zeros(sums.shape[1:])
    for part, memory, of_memory in zip(share, MEMORIES, sums, strict=False):
        total += part * _likely(of_memory, counted(forecasts, memory), _PRIOR)
    total[_LAST] += share[_SAID]
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
    begin = _SAID + _TRIED
    return state[:_SAID], state[_SAID:begin], state[begin:].reshape(len(MEMORIES), len(PREDICTORS), -1)


def _trusted(trust: Array, forecasts: Array) -> Array:
    return _likely(trust, counted(forecasts, _TRUST), _FIRST, _TOGETHER)


def _likely(sums: Array, many: Array, prior: Array, power: float = 1.0) -> Array:
    mean = sums.mean(axis=0) / np.maximum(many, 1.0)
    known = mean > 0.0
    likely = np.where(known, sums, 1.0)
    likely /= np.where(known, mean, 1.0)
    likely += _DOUBT
    np.log(likely, out=likely)
    likely *= -power * (many + _DOUBT)
    likely += prior
    likely -= likely.max(axis=0)
    np.exp(likely, out=likely)
    likely /= likely.sum(axis=0)
    return likely
