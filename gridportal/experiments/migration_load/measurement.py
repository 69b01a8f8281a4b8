"""Migration 2003, 8.1, figure 4: size 12,000; 3 to 20 busy processes on each of the four msc nodes after twenty
minutes."""

from __future__ import annotations

from gridportal.experiments.moves.move_case import CaseLoad, MoveCase
from gridportal.experiments.moves.move_trials import CaseSeries, of_plan
from gridportal.experiments.moves.request_nodes import MSC, OPUS, PROCESSORS, WHOLE, job
from gridportal.experiments.moves.scaled_grid import busy_processes

SIZE, MINUTES = 12_000, 20.0
AMOUNTS = (3, 5, 10, 20)


def series(full: bool) -> CaseSeries:
    """A case for each amount; there are no more."""
    cases = {str(amount): MoveCase((job(SIZE),), CaseLoad(busy_processes(amount), MINUTES)) for amount in AMOUNTS}
    return CaseSeries((*MSC, *OPUS), cases, job(SIZE), OPUS, PROCESSORS, WHOLE)


measurement = of_plan(series)
