"""NAS CG: the smallest eigenvalue of a large sparse matrix by the inverse power method.

    mpiexec -n 4 python -m gridportal.workloads.cg --class S

Many short messages between few pairs of ranks: sums along grid rows, and the transpose exchange. It can be stopped
after any iteration, and goes on with any number of ranks that it can have.
Source: NAS Parallel Benchmarks, RNR-94-007 section 2.3, and the benchmarks' MPI version.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.runtime.phases import Phases
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.layouts import Layout
from gridportal.workloads import stoppable
from gridportal.workloads.cg_grid import Grid, make_grid
from gridportal.workloads.cg_matrix import Block, Floats, make_block
from gridportal.workloads.cg_solver import CG_STEPS, Exchange, power_step
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.program_log import Log, conclude, relative_error

TOLERANCE = 1e-10


@dataclass(frozen=True)
class ProblemClass:
    """A class of the benchmark, with the official eigenvalue that it must reach."""

    size: int
    nonzeros: int
    iterations: int
    shift: float
    zeta: float

    def operations(self) -> float:
        """Floating-point operations as NPB counts them."""
        filled = self.nonzeros * (self.nonzeros + 1)
        return 2.0 * self.iterations * self.size * (3.0 + filled + CG_STEPS * (5.0 + filled) + 3.0)


CLASSES = {
    "S": ProblemClass(1400, 7, 15, 10.0, 8.5971775078648),
    "W": ProblemClass(7000, 8, 15, 12.0, 10.362595087124),
    "A": ProblemClass(14000, 11, 15, 20.0, 17.130235054029),
    "B": ProblemClass(75000, 13, 75, 60.0, 22.712745482631),
}


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if zeta is the official one, or the run was stopped before there is
    one."""
    name = arguments.problem_class
    problem = CLASSES[name]
    grid = make_grid(comm.Get_rank(), comm.Get_size(), problem.size)
    log, phases = Log(comm), Phases(comm, "cg", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: CG, class {name}",
        rows=problem.size,
        iterations=problem.iterations,
        ranks=f"{comm.Get_size()} as a {grid.rows} x {grid.columns} grid",
    )
    with phases.phase("makea"):
        block = make_block(problem.size, problem.nonzeros, problem.shift, grid.own_rows, grid.own_columns)
    exchange = Exchange(comm, grid, phases.communicating)
    x, zeta, done = np.ones(len(grid.own_columns)), np.full(1, math.nan), np.zeros(1, dtype=np.int64)
    with phases.phase("init"):  # NPB's one untimed step, which touches all data and connects all partners
        power_step(block, exchange, x, problem.shift)
    state = stoppable.begin(comm)
    state.register("x", x if grid.rank < grid.columns else x[:0], (problem.size,), first_row(grid, comm.Get_size()))
    state.register("zeta", zeta)
    state.register("done", done)
    state.store_map()
    if state.restart_value():
        for name in state.registered:
            state.read(name)
        exchange.spread_first_row(x)
    comm.Barrier()
    started, began = time.perf_counter(), int(done[0])
    stopped = iterate(phases, log, problem, block, exchange, (x, zeta, done), state)
    state.finish()
    if stopped:
        log.line(f"STOPPED after {done[0]} of {problem.iterations} iterations")
        return True
    left = 1.0 - began / problem.iterations
    return verify(phases, log, problem, float(zeta[0]), phases.slowest(time.perf_counter() - started), left)


def first_row(grid: Grid, ranks: int) -> Layout:
    """x lies in pieces on the ranks of each row of the grid: a checkpoint has those of the first row."""
    piece = len(grid.own_columns)
    return layouts.shares([piece] * grid.columns + [0] * (ranks - grid.columns))


def iterate(
    phases: Phases,
    log: Log,
    problem: ProblemClass,
    block: Block,
    exchange: Exchange,
    reached: tuple[Floats, Floats, NDArray[np.int64]],
    state: stoppable.State,
) -> bool:
    """The timed part: power steps from what is reached, x, zeta and iterations done; True when it is to stop."""
    x, zeta, done = reached
    log.line("  iteration         ||r||              zeta    seconds")
    for iteration in range(int(done[0]) + 1, problem.iterations + 1):
        started = time.perf_counter()
        with phases.phase("conj_grad", iteration, problem.iterations):
            x[:], zeta[0], residual = power_step(block, exchange, x, problem.shift)
        done[0] = iteration
        log.line(f"  {iteration:>9} {residual:>13.6e} {zeta[0]:>17.13f} {time.perf_counter() - started:>10.4f}")
        if state.check_stop():
            return True
    return False


def verify(phases: Phases, log: Log, problem: ProblemClass, zeta: float, seconds: float, left: float) -> bool:
    """Hold zeta against the official value and report, on every rank alike; `left`: the share of this run in all."""
    error = relative_error(zeta, problem.zeta)
    verified = error <= TOLERANCE
    figures = {"zeta": zeta, "zeta_reference": problem.zeta, "error": error}
    conclude(phases, log, verified, seconds, left * problem.operations(), figures)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="cg", description="NAS CG: smallest eigenvalue of a sparse matrix.")
    parser.class_option(CLASSES)
    launch(parser, run)
