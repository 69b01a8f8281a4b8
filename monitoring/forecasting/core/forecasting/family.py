"""All predictors side by side: one state array, one array of forecasts."""

from __future__ import annotations

import numpy as np

from monitoring.forecasting.core.forecasting.lattice import Lattice
from monitoring.forecasting.core.forecasting.part import Array, Part
from monitoring.forecasting.core.forecasting.smoothing import Running, Smoothing
from monitoring.forecasting.core.forecasting.windows import Windows

_PARTS: tuple[Part, ...] = (Running(), Windows(), Smoothing(), Lattice())
#: The predictors, in the order of every array that has one row per predictor.
PREDICTORS: tuple[str, ...] = tuple(name for part in _PARTS for name in part.names)
#: The kind of each, for the mixture to be fair between kinds.
KINDS: tuple[str, ...] = tuple(kind for part in _PARTS for kind in part.kinds)
#: How many coefficients each learns from the series.
FITTED: tuple[int, ...] = tuple(many for part in _PARTS for many in part.fitted)
_OWN = 4  # rows: samples seen, lowest, highest, largest step
ROWS = _OWN + sum(part.rows for part in _PARTS)


def update(state: Array, x: Array) -> None:
    """Take the newest samples `x` (B,), all finite, into `state` (ROWS, B), in place."""
    seen, lowest, highest, step = state[:_OWN]
    first = seen == 0
    seen += 1
    np.maximum(step, np.where(first, 0.0, np.abs(x - state[_OWN])), out=step)
    np.copyto(lowest, np.where(first, x, np.minimum(lowest, x)))
    np.copyto(highest, np.where(first, x, np.maximum(highest, x)))
    at = _OWN
    for part in _PARTS:
        part.update(state[at : at + part.rows], x, seen)
        at += part.rows


def predict(state: Array) -> Array:
    """The forecasts (predictors, B) of the next sample; series without a sample give NaN.

    None goes further beyond what was seen than the series ever stepped, nor below 0 where nothing was below it.
    """
    seen, lowest, highest, step = state[:_OWN]
    out = np.empty((len(PREDICTORS), state.shape[1]))
    at, row = _OWN, 0
    for part in _PARTS:
        part.predict(state[at : at + part.rows], np.maximum(seen, 1.0), out[row : row + len(part.names)])
        at, row = at + part.rows, row + len(part.names)
    least = np.where(lowest >= 0.0, np.maximum(lowest - step, 0.0), lowest - step)
    np.copyto(out, out[0], where=np.isnan(out))
    np.clip(out, least, highest + step, out=out)
    out[:, seen == 0] = np.nan
    return out
