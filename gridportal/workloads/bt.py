"""NAS BT: a flow problem by alternating directions, with block-tridiagonal systems of 5 x 5 blocks.

    mpiexec -n 4 python -m gridportal.workloads.bt --class S

Large messages to the successors and predecessors of a multipartition: bandwidth counts.
Source: NAS Parallel Benchmarks, RNR-94-007 section 3, and the benchmarks' MPI version, with its official
norms.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.bt_cells import make_partition
from gridportal.workloads.bt_exchange import Exchange
from gridportal.workloads.bt_solver import Solver
from gridportal.workloads.cfd.verification import Reference, norms, verify
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.program_log import Log

REPORTS = 20  # lines in the log; every iteration is told to the portal


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
        0.01,
        60,
        Reference(
            (
                1.7034283709541311e-01,
                1.2975252070034097e-02,
                3.2527926989486055e-02,
                2.6436421275166801e-02,
                1.9211784131744430e-01,
            ),
            (
                4.9976913345811579e-04,
                4.5195666782961927e-05,
                7.3973765172921357e-05,
                7.3821238632439731e-05,
                8.9269630987491446e-04,
            ),
        ),
    ),
    "W": ProblemClass(
        24,
        0.0008,
        200,
        Reference(
            (0.1125590409344e03, 0.1180007595731e02, 0.2710329767846e02, 0.2469174937669e02, 0.2638427874317e03),
            (0.4419655736008e01, 0.4638531260002e00, 0.1011551749967e01, 0.9235878729944e00, 0.1018045837718e02),
        ),
    ),
    "A": ProblemClass(
        64,
        0.0008,
        200,
        Reference(
            (
                1.0806346714637264e02,
                1.1319730901220813e01,
                2.5974354511582465e01,
                2.3665622544678910e01,
                2.5278963211748344e02,
            ),
            (
                4.2348416040525025e00,
                4.4390282496995698e-01,
                9.6692480136345650e-01,
                8.8302063039765474e-01,
                9.7379901770829278e00,
            ),
        ),
    ),
}


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if all norms are the official ones."""
    name = arguments.problem_class
    problem = CLASSES[name]
    partition = make_partition(comm.Get_rank(), comm.Get_size(), problem.size)
    log, phases = Log(comm), Phases(comm, "bt", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: BT, class {name}",
        points=f"{problem.size}^3",
        iterations=problem.iterations,
        ranks=f"{comm.Get_size()}, each with {partition.side} of {partition.side}^3 cells",
    )
    with phases.phase("init"):
        solver = Solver(partition, Exchange(comm, partition, phases.communicating), problem.step)
    comm.Barrier()
    started = time.perf_counter()
    iterate(phases, log, solver, problem.iterations)
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        solver.right_hand_side()
        residual = norms(comm, solver.residual_squares(), problem.size)
        error = norms(comm, solver.error_squares(), problem.size)
    return verify(phases, log, problem.reference, residual, error, seconds)


def iterate(phases: Phases, log: Log, solver: Solver, iterations: int) -> None:
    """The timed part: the right-hand side and the three directions, `iterations` times."""
    every = math.ceil(iterations / REPORTS)
    log.line("  iteration    seconds")
    for iteration in range(1, iterations + 1):
        started = time.perf_counter()
        with phases.phase("rhs", iteration, iterations):
            solver.right_hand_side()
        for axis, name in enumerate(("x_solve", "y_solve", "z_solve")):
            with phases.phase(name, iteration, iterations):
                solver.solve(axis)
        solver.add()
        if iteration % every == 0:
            log.line(f"  {iteration:>9} {time.perf_counter() - started:>10.4f}")


if __name__ == "__main__":
    parser = Parser(prog="bt", description="NAS BT: a flow problem by block-tridiagonal systems.")
    parser.class_option(CLASSES)
    launch(parser, run)
