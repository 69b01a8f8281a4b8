"""Rates of pairs as measured: of racks under load, or of one switch; each pair with noise of its own."""

from __future__ import annotations

import numpy as np

from scheduling.selection.core.trees.usable_network import Floats

RACK = 16


def racks(nodes: int, noise: float, seed: int) -> Floats:
    """Of nodes with 1 Gbit/s in racks of 16 with 4 Gbit/s, of which 10 to 100 % are available, evenly spread. Each pair
    has the least on its way, times a lognormal factor with this sigma."""
    rng = np.random.default_rng(seed)
    own, up = rng.uniform(1e8, 1e9, nodes), rng.uniform(4e8, 4e9, -(-nodes // RACK))
    home = np.arange(nodes) // RACK
    rates = np.minimum.outer(own, own)
    across = np.minimum.outer(up[home], up[home])
    apart = np.not_equal.outer(home, home)
    return _noisy(np.where(apart, np.minimum(rates, across), rates), noise, rng)


def one_switch(nodes: int, noise: float, seed: int) -> Floats:
    """Of 1 Gbit/s everywhere, times such a factor. Its size changes no answer, only whether there is one."""
    return _noisy(np.full((nodes, nodes), 1e9), noise, np.random.default_rng(seed))


def _noisy(rates: Floats, noise: float, rng: np.random.Generator) -> Floats:
    factors = np.triu(rng.lognormal(0.0, noise, rates.shape), 1)
    found = rates * (factors + factors.T)
    np.fill_diagonal(found, -np.inf)
    return found
