"""NAS MG: Poisson's equation on a periodic cube by V-cycles over grids of falling resolution.

    mpiexec -n 4 python -m gridportal.workloads.mg --class S

Neighbours in a three-dimensional grid of ranks exchange faces: long messages on fine levels, many short ones
on coarse levels. Source: NAS Parallel Benchmarks, RNR-94-007 (kernel MG), and the benchmarks' MPI version.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.mg_charges import place_charges
from gridportal.workloads.mg_cycle import Multigrid
from gridportal.workloads.mg_levels import make_levels, process_grid
from gridportal.workloads.mg_stencils import Coefficients
from gridportal.workloads.program_log import Log, conclude, relative_error

TOLERANCE = 1e-8
SMOOTHER_A: Coefficients = (-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0)
SMOOTHER_B: Coefficients = (-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0.0)


@dataclass(frozen=True)
class ProblemClass:
    """A cube of `points` a side, and the official norm of the residual after all cycles."""

    points: int
    iterations: int
    smoother: Coefficients
    norm: float

    def operations(self) -> float:
        """Floating-point operations as NPB counts them."""
        return 58.0 * self.iterations * self.points**3


CLASSES = {
    "S": ProblemClass(32, 4, SMOOTHER_A, 0.5307707005734e-04),
    "W": ProblemClass(128, 4, SMOOTHER_A, 0.6467329375339e-05),
    "A": ProblemClass(256, 4, SMOOTHER_A, 0.2433365309069e-05),
    "B": ProblemClass(256, 20, SMOOTHER_B, 0.1800564401355e-05),
}


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if the residual's norm is the official one."""
    name = arguments.problem_class
    problem = CLASSES[name]
    grid = process_grid(comm.Get_size())
    log, phases = Log(comm), Phases(comm, "mg", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: MG, class {name}",
        cube=f"{problem.points} points a side",
        iterations=problem.iterations,
        ranks=f"{comm.Get_size()} as a {' x '.join(map(str, grid))} grid",
    )
    with phases.phase("init"):
        solver = make_solver(comm, phases, problem)
        solver.find_residual()
        solver.cycle()  # NPB's one untimed cycle, which touches all data and connects all neighbours
        solver.restart()
    comm.Barrier()
    started = time.perf_counter()
    norm = iterate(phases, log, problem, solver)
    return verify(phases, log, problem, norm, phases.slowest(time.perf_counter() - started))


def make_solver(comm: MPI.Intracomm, phases: Phases, problem: ProblemClass) -> Multigrid:
    """All fields of this rank, and the charges in its part of the cube."""
    levels = make_levels(comm.Get_rank(), comm.Get_size(), problem.points)
    v = np.zeros(levels[-1].shape)
    place_charges(comm, levels[-1], v)
    return Multigrid(comm, phases.communicating, levels, v, problem.smoother)


def iterate(phases: Phases, log: Log, problem: ProblemClass, solver: Multigrid) -> float:
    """The timed part: all cycles; returns the norm of the residual."""
    with phases.phase("residual"):
        solver.find_residual()
    log.line("  iteration    seconds")
    for iteration in range(1, problem.iterations + 1):
        started = time.perf_counter()
        with phases.phase("v_cycle", iteration, problem.iterations):
            solver.cycle()
        with phases.phase("residual", iteration, problem.iterations):
            solver.find_residual()
        log.line(f"  {iteration:>9} {time.perf_counter() - started:>10.4f}")
    return solver.norm()


def verify(phases: Phases, log: Log, problem: ProblemClass, norm: float, seconds: float) -> bool:
    """Hold the norm against the official value and report, on every rank alike."""
    error = relative_error(norm, problem.norm)
    verified = error <= TOLERANCE
    figures = {"norm": norm, "norm_reference": problem.norm, "error": error}
    conclude(phases, log, verified, seconds, problem.operations(), figures)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="mg", description="NAS MG: multigrid on a periodic cube.")
    parser.class_option(CLASSES)
    launch(parser, run)
