"""What every kind of predictor answers, so that a family is a list of them and its state is one array."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Part(Protocol):
    """Some predictors over B series at once. What they remember is `rows` numbers per series, all 0 at the start.

    `fitted` says of each how many coefficients it learns from the series, 1 where there is nothing but a level.

    `seen` (B,) counts the samples of each series with the newest one, so it is 1 or more. Parts know no absolute scale:
    when a series is multiplied by a number above 0, so is each forecast.
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def fitted(self) -> tuple[int, ...]: ...
    @property
    def rows(self) -> int: ...

    def update(self, state: Array, x: Array, seen: Array) -> None:
        """Take the newest sample `x` (B,) into `state` (rows, B), in place."""

    def predict(self, state: Array, seen: Array, out: Array) -> None:
        """Write the forecasts of the next sample into `out` (predictors, B)."""
