"""Migration 2003, 8.2, figure 6: a job on six msc nodes; two minutes later a second one, which has room on these and
two opus nodes only, and gains by moving to the six when the first has ended.

The msc nodes have two processors, as in table II, so that both jobs have one there.
"""

from __future__ import annotations

from gridportal.experiments.moves import scaled_grid
from gridportal.experiments.moves.move_case import CaseJob, MoveCase
from gridportal.experiments.moves.move_trials import CaseSeries, of_plan

NODES = (*(f"msc{number}" for number in range(1, 7)), "opus1", "opus2")
FIRST, FIRST_RANKS, SECOND_RANKS, MINUTES = 14_000, 6, 8, 2.0
SIZES = (13_000, 14_000)
PROCESSORS = 2


def series(full: bool) -> CaseSeries:
    """A case for each size of the second job; there are no more."""
    first = CaseJob(scaled_grid.rows(FIRST), FIRST_RANKS)
    second = {size: CaseJob(scaled_grid.rows(size), SECOND_RANKS, MINUTES) for size in SIZES}
    cases = {str(size): MoveCase((first, job)) for size, job in second.items()}
    return CaseSeries(NODES, cases, first, NODES, PROCESSORS)


measurement = of_plan(series)
