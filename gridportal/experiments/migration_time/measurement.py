"""Migration 2003, 8.1, figure 5: size 12,000; seven busy processes on each of the four msc nodes, after 5 to 23
minutes, when it is nearly done."""

from __future__ import annotations

from gridportal.experiments.moves.move_case import CaseLoad, MoveCase
from gridportal.experiments.moves.move_trials import CaseSeries, of_plan
from gridportal.experiments.moves.request_nodes import MSC, OPUS, PROCESSORS, WHOLE, job
from gridportal.experiments.moves.scaled_grid import busy_processes

SIZE, PROCESSES = 12_000, 7
TIMES = (5, 10, 15, 20, 23)


def series(full: bool) -> CaseSeries:
    """A case for each time; there are no more."""
    loads = {str(minutes): CaseLoad(busy_processes(PROCESSES), float(minutes)) for minutes in TIMES}
    cases = {name: MoveCase((job(SIZE),), load) for name, load in loads.items()}
    return CaseSeries((*MSC, *OPUS), cases, job(SIZE), OPUS, PROCESSORS, WHOLE)


measurement = of_plan(series)
