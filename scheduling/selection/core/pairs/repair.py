"""When the exact search runs out of time: raise the lowest rate of the best placement step by step.

Not in the papers. The search of Minton and others (1992, minimising conflicts): aim at the next higher rate, and move a
rank of some pair that is below it to where the fewest pairs are.
"""

from __future__ import annotations

import random

import numpy as np

from scheduling.selection.core.pairs.local_search import LocalSearch
from scheduling.selection.core.threshold import Group, OutOfTime
from scheduling.selection.core.trees.usable_network import Floats, Ints

WALK = 400
STEPS = 40_000
NOISE = 0.04


def repair(local: LocalSearch, group: Group, *, rng: random.Random) -> Group:
    """A placement whose lowest rate is that of `group` or higher; promises nothing more. Ends with local's tick."""
    best, steps = group, STEPS
    try:
        while steps > 0:
            higher = local.rates[local.rates > local.lowest(best)]
            if not len(higher):
                break
            found = _walk(local, best, float(higher.min()), rng)
            steps -= WALK
            best = found if found is not None else best
    except OutOfTime:
        pass
    return best


def _walk(local: LocalSearch, group: Group, aim: float, rng: random.Random) -> Group | None:
    """Up to WALK moves towards a placement with every pair at `aim`; None when it is not reached."""
    at = np.array(group, dtype=np.int64)
    for _ in range(WALK):
        local.tick()
        low = np.flatnonzero(local.rates[at[local.a], at[local.b]] < aim)
        if not len(low):
            return tuple(at.tolist())
        edge = low[rng.randrange(len(low))]
        rank = int(local.a[edge] if rng.random() < 0.5 else local.b[edge])
        at = _move(local.rates, local, at, rank, aim, rng)
    return None


def _move(rates: Floats, local: LocalSearch, at: Ints, rank: int, aim: float, rng: random.Random) -> Ints:
    options = local.exchanges(at, rank)
    options = options[(options != at).any(axis=1)]
    if not len(options):
        return at
    if rng.random() < NOISE:
        chosen: Ints = options[rng.randrange(len(options))]
        return chosen
    below = (rates[options[:, local.a], options[:, local.b]] < aim).sum(axis=1)
    fewest = np.flatnonzero(below == below.min())
    chosen = options[fewest[rng.randrange(len(fewest))]]
    return chosen
