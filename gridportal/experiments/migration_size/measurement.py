"""Migration 2003, 8.1, figure 3: matrices of several sizes; ten busy processes on each of the four msc nodes after five
minutes."""

from __future__ import annotations

from gridportal.experiments.moves.move_case import CaseLoad, MoveCase
from gridportal.experiments.moves.move_trials import CaseSeries, of_plan
from gridportal.experiments.moves.request_nodes import MSC, OPUS, PROCESSORS, WHOLE, job
from gridportal.experiments.moves.scaled_grid import busy_processes

PROCESSES, MINUTES = 10, 5.0
SIZES = (8000, 9000, 10_000, 11_000, 12_000)
FULL_SIZES = (6000, 7000, *SIZES)


def series(full: bool) -> CaseSeries:
    """A case for each size; smaller ones are nearly done when the load comes."""
    load = CaseLoad(busy_processes(PROCESSES), MINUTES)
    sizes = FULL_SIZES if full else SIZES
    cases = {str(size): MoveCase((job(size),), load) for size in sizes}
    return CaseSeries((*MSC, *OPUS), cases, job(SIZES[-1]), OPUS, PROCESSORS, WHOLE)


measurement = of_plan(series)
