"""Autoregressive predictors of every order up to 16 by recursive least squares, of samples and of their steps, in
lattice form.

The lattice finds what a recursive least squares with the full matrix finds, for all orders at once, in 16 steps
instead of 16 x 16 per sample, and keeps 96 numbers per series instead of 256. Source: the least-squares lattice with a
priori errors and error feedback (Haykin, Adaptive Filter Theory, 3rd edition, table 15.3).
"""

from __future__ import annotations

import numpy as np

from monitoring.forecasting.core.forecasting.part import Array

ORDER = 16
ORDERS = (1, 4, 16)
#: What is forecast, and what each new sample leaves of the earlier ones there: all of the samples themselves, of their
#: steps what was in the last several hundred, so that one of the two follows when the series becomes another.
MEMORIES = (1.0, 0.99)
WAYS = ("", " of steps")
_SMALLEST = 2.0**-40
_LAST = 1  # row: the last sample
_HEAD = 3  # rows before the stages, for each way: weight of the mean, the mean, the floor of the energies


class Lattice:
    """Least squares over the past, samples weighted by memory^age, of the distances from their weighted mean.

    A ridge of the first distance squared keeps the start tame, so no absolute scale is needed. What comes before the
    first sample counts as 0 (prewindowing), and so does the first step. Coefficients that tell nothing yet forecast
    the mean of the samples, or the last value and the mean step: the ridge draws towards either.
    """

    names = tuple(f"autoregressive {order}{way}" for way in WAYS for order in ORDERS)
    kinds = tuple(f"autoregressive{way}" for way in WAYS for _ in ORDERS)
    fitted = ORDERS * len(WAYS)
    rows = _LAST + len(WAYS) * (_HEAD + 6 * ORDER)

    def __init__(self) -> None:
        self._memory = np.array(MEMORIES)[:, None]
        self._start = self._memory ** -np.arange(ORDER, dtype=float)  # (ways, stages): the ridge ages by lag

    @np.errstate(over="ignore", invalid="ignore")
    def update(self, state: Array, x: Array, seen: Array) -> None:
        last, head, (ahead, back, behind, energy, front, sure) = self._open(state)
        weight, mean, floor = head
        weight *= self._memory
        weight += 1.0
        error = np.stack([x, np.where(seen == 1, 0.0, x - last)])
        last[:] = x
        mean += (error - mean) / weight
        error -= mean
        fresh = (floor == 0.0) & (error != 0.0)
        if fresh.any():
            _begin(fresh, error, self._start, floor, energy, front)
        least = floor * _SMALLEST
        newest, trust = error, np.ones_like(error)
        for stage in range(ORDER):
            old, old_energy, old_sure = behind[stage].copy(), energy[stage].copy(), sure[stage].copy()
            behind[stage], sure[stage] = newest, trust
            part = trust * newest
            energy[stage] = np.maximum(self._memory * energy[stage] + part * newest, least)
            spent = old_sure * error
            front[stage] = np.maximum(self._memory * front[stage] + spent * error, least)
            after = error + ahead[stage] * old
            newest_after = old + back[stage] * error
            ahead[stage] -= _share(old_sure * old * after, old_energy)
            back[stage] -= _share(spent * newest_after, front[stage])
            trust = np.maximum(trust - _share(part * part, energy[stage]), 0.0)
            error, newest = after, newest_after
        broken = ~np.isfinite(error + newest).all(axis=0)
        if broken.any():  # values further apart than squares can tell: begin anew
            state[_LAST:, broken] = 0.0

    @np.errstate(over="ignore", invalid="ignore")
    def predict(self, state: Array, seen: Array, out: Array) -> None:
        """NaN where the numbers do not suffice."""
        last, head, (ahead, _, behind, *_) = self._open(state)
        mean, total, begin = head[1], np.zeros(head[1].shape), 0
        for row, order in enumerate(ORDERS):
            total -= (ahead[begin:order] * behind[begin:order]).sum(axis=0)
            out[row :: len(ORDERS)] = mean + total
            begin = order
        out[len(ORDERS) :] += last

    def _open(self, state: Array) -> tuple[Array, Array, Array]:
        """The rows as (B,), (head, ways, B) and (kinds, stages, ways, B)."""
        cut, columns = _LAST + _HEAD * len(WAYS), state.shape[1]
        return (
            state[0],
            state[_LAST:cut].reshape(_HEAD, len(WAYS), columns),
            state[cut:].reshape(6, ORDER, len(WAYS), columns),
        )


def _begin(fresh: Array, error: Array, start: Array, floor: Array, energy: Array, front: Array) -> None:
    """The first distance that is not 0 sets the ridge; until then every quantity of the lattice is 0."""
    ridge = error * error
    floor[fresh] = ridge[fresh]
    for stage in range(ORDER):
        np.copyto(energy[stage], ridge * start[:, stage, None], where=fresh)
        np.copyto(front[stage], ridge, where=fresh)


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
