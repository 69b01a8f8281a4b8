"""NAS LU: a flow problem by symmetric successive over-relaxation, in waves over a 2-D mesh of ranks.

    mpiexec -n 4 python -m gridportal.workloads.lu --class S

Hundreds of small messages per step, each waited for by the next rank of the wave: latency counts.
Source: NAS Parallel Benchmarks, RNR-94-007 section 3, and the benchmarks' MPI version, with its official
norms; its third check, a surface integral, is left out.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.cfd.block import squares
from gridportal.workloads.cfd.verification import Reference, norms, verify
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.lu_exchange import Exchange
from gridportal.workloads.lu_mesh import make_mesh
from gridportal.workloads.lu_solver import Solver
from gridportal.workloads.program_log import Log

REPORTS = 25  # lines in the log; every iteration is told to the portal


@dataclass(frozen=True)
class ProblemClass:
    """A cube of `size` points a side, the length of a time step and their number."""

    size: int
    step: float
    iterations: int
    reference: Reference


CLASSES = {
    "S": ProblemClass(
        12,
        0.5,
        50,
        Reference(
            (
                1.6196343210976702e-02,
                2.1976745164821318e-03,
                1.5179927653399185e-03,
                1.5029584435994323e-03,
                3.4264073155896461e-02,
            ),
            (
                6.4223319957960924e-04,
                8.4144342047347926e-05,
                5.8588269616485186e-05,
                5.8474222595157350e-05,
                1.3103347914111294e-03,
            ),
        ),
    ),
    "W": ProblemClass(
        33,
        1.5e-3,
        300,
        Reference(
            (0.1236511638192e02, 0.1317228477799e01, 0.2550120713095e01, 0.2326187750252e01, 0.2826799444189e02),
            (0.4867877144216e00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01, 0.1084277417792e01),
        ),
    ),
    "A": ProblemClass(
        64,
        2.0,
        250,
        Reference(
            (
                7.7902107606689367e02,
                6.3402765259692870e01,
                1.9499249727292479e02,
                1.7845301160418537e02,
                1.8384760349464247e03,
            ),
            (
                2.9964085685471943e01,
                2.8194576365003349e00,
                7.3473412698774742e00,
                6.7139225687777051e00,
                7.0715315688392578e01,
            ),
        ),
    ),
}


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if all norms are the official ones."""
    name = arguments.problem_class
    problem = CLASSES[name]
    mesh = make_mesh(comm.Get_rank(), comm.Get_size(), problem.size)
    log, phases = Log(comm), Phases(comm, "lu", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: LU, class {name}",
        points=f"{problem.size}^3",
        iterations=problem.iterations,
        ranks=f"{comm.Get_size()} as a {mesh.rows} x {mesh.columns} mesh",
    )
    exchange = Exchange(comm, mesh, phases.communicating)
    with phases.phase("init"):
        solver = Solver(mesh, exchange, problem.step)
    comm.Barrier()
    started = time.perf_counter()
    iterate(phases, log, solver, problem.iterations)
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        residual = norms(comm, squares(solver.change), problem.size)
        error = norms(comm, squares(solver.error), problem.size)
    return verify(phases, log, problem.reference, residual, error, seconds)


def iterate(phases: Phases, log: Log, solver: Solver, iterations: int) -> None:
    """The timed part: both sweeps and the right-hand side, `iterations` times."""
    every = math.ceil(iterations / REPORTS)
    log.line("  iteration    seconds")
    for iteration in range(1, iterations + 1):
        started = time.perf_counter()
        with phases.phase("lower", iteration, iterations):
            solver.sweep_up()
        with phases.phase("upper", iteration, iterations):
            solver.sweep_down()
        with phases.phase("rhs", iteration, iterations):
            solver.update()
        if iteration % every == 0:
            log.line(f"  {iteration:>9} {time.perf_counter() - started:>10.4f}")


if __name__ == "__main__":
    parser = Parser(prog="lu", description="NAS LU: a flow problem by over-relaxation in pipelined waves.")
    parser.class_option(CLASSES)
    launch(parser, run)
