"""NAS CG: the smallest eigenvalue of a large sparse matrix by the inverse power method.

    mpiexec -n 4 python -m gridportal.workloads.cg --class S

Many short messages between few pairs of ranks: sums along grid rows, and the transpose exchange.
Source: NAS Parallel Benchmarks, RNR-94-007 section 2.3, and the benchmarks' MPI version.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.cg_grid import make_grid
from gridportal.workloads.cg_matrix import Block, make_block
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
    """Run one class on all ranks of `comm`; True if zeta is the official one."""
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
    ones = np.ones(len(grid.own_columns))
    with phases.phase("init"):  # NPB's one untimed step, which touches all data and connects all partners
        power_step(block, exchange, ones, problem.shift)
    comm.Barrier()
    started = time.perf_counter()
    zeta = iterate(phases, log, problem, block, exchange, ones)
    return verify(phases, log, problem, zeta, phases.slowest(time.perf_counter() - started))


def iterate(phases: Phases, log: Log, problem: ProblemClass, block: Block, exchange: Exchange, x: np.ndarray) -> float:
    """The timed part: all power steps from `x`; returns zeta."""
    zeta = math.nan
    log.line("  iteration         ||r||              zeta    seconds")
    for iteration in range(1, problem.iterations + 1):
        started = time.perf_counter()
        with phases.phase("conj_grad", iteration, problem.iterations):
            x, zeta, residual = power_step(block, exchange, x, problem.shift)
        log.line(f"  {iteration:>9} {residual:>13.6e} {zeta:>17.13f} {time.perf_counter() - started:>10.4f}")
    return zeta


def verify(phases: Phases, log: Log, problem: ProblemClass, zeta: float, seconds: float) -> bool:
    """Hold zeta against the official value and report, on every rank alike."""
    error = relative_error(zeta, problem.zeta)
    verified = error <= TOLERANCE
    figures = {"zeta": zeta, "zeta_reference": problem.zeta, "error": error}
    conclude(phases, log, verified, seconds, problem.operations(), figures)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="cg", description="NAS CG: smallest eigenvalue of a sparse matrix.")
    parser.class_option(CLASSES)
    launch(parser, run)
