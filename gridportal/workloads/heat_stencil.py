"""What a time step of the heated plate computes; no messages, so that benchmarks can call the very same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: diffusivity * time step / spacing^2; the stencil is stable up to 0.25
RATIO = 0.2


def sweep(block: NDArray[np.floating[Any]], total: NDArray[np.floating[Any]]) -> None:
    """Every point of `block` from its four neighbours, in place. `block` has a layer of halo around it; `total`: room
    of the shape of what is inside."""
    np.add(block[:-2, 1:-1], block[2:, 1:-1], out=total)
    total += block[1:-1, :-2]
    total += block[1:-1, 2:]
    total *= RATIO
    block[1:-1, 1:-1] *= 1.0 - 4.0 * RATIO
    block[1:-1, 1:-1] += total
