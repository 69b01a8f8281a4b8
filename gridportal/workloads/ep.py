"""NAS EP: Gaussian pairs by the acceptance-rejection method; computes, and hardly communicates.

    mpiexec -n 4 python -m gridportal.workloads.ep --class S

Source: NAS Parallel Benchmarks, RNR-94-007 section 2.1; official sums from the benchmarks' verification.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.program_log import Log, relative_error
from gridportal.workloads.randlc import MASK, Floats, States, jump, powers, uniform

SEED = 271828183
BLOCK = 1 << 14  # pairs drawn at once: the working arrays stay in the processor's cache
REPORTS = 16  # phases of the timed part; many more would only make the progress file long
RINGS = 10
TOLERANCE = 1e-8


@dataclass(frozen=True)
class ProblemClass:
    """2^exponent pairs, with the official sums of their deviates."""

    exponent: int
    sum_x: float
    sum_y: float


CLASSES = {
    "S": ProblemClass(24, -3.247834652034740e3, -6.958407078382297e3),
    "W": ProblemClass(25, -2.863319731645753e3, -6.320053679109499e3),
    "A": ProblemClass(28, -4.295875165629892e3, -1.580732573678431e4),
    "B": ProblemClass(30, 4.033815542441498e4, -2.660669192809235e4),
}


class PairGenerator:
    """Draws blocks of BLOCK pairs, any block by its number."""

    def __init__(self) -> None:
        table = powers(2 * BLOCK)
        self._x_powers, self._y_powers = table[0::2].copy(), table[1::2].copy()

    def block(self, number: int) -> tuple[Floats, Floats]:
        """x and y in (-1, 1), shape (BLOCK,) each."""
        state = np.uint64(jump(SEED, 2 * BLOCK * number))
        return _symmetric(self._x_powers * state), _symmetric(self._y_powers * state)


def _symmetric(states: States) -> Floats:
    states &= MASK
    numbers = uniform(states)
    numbers *= 2.0
    numbers -= 1.0
    return numbers


def tally(x: Floats, y: Floats) -> Floats:
    """Sum of X, sum of Y and the counts of max(|X|, |Y|) in [l, l+1), l = 0..9; shape (12,)."""
    t = x * x + y * y
    inside = t <= 1.0
    t = t[inside]
    factor = np.sqrt(-2.0 * np.log(t) / t)
    deviate_x, deviate_y = x[inside] * factor, y[inside] * factor
    rings = np.maximum(np.abs(deviate_x), np.abs(deviate_y)).astype(np.int64)
    return np.concatenate([[deviate_x.sum(), deviate_y.sum()], np.bincount(rings, minlength=RINGS)])


def share(total: int, part: int, parts: int) -> range:
    """The `part`-th of `parts` nearly equal pieces of range(total).

    >>> [share(7, part, 3) for part in range(3)]
    [range(0, 2), range(2, 4), range(4, 7)]
    """
    return range(total * part // parts, total * (part + 1) // parts)


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if both sums are the official ones."""
    name = arguments.problem_class
    problem = CLASSES[name]
    blocks = (1 << problem.exponent) // BLOCK
    if comm.Get_size() > blocks:
        raise InputError("ranks", comm.Get_size(), f"1 to {blocks} for class {name}")
    log, phases = Log(comm), Phases(comm, "ep", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: EP, class {name}",
        pairs=f"2^{problem.exponent}",
        ranks=comm.Get_size(),
    )
    with phases.phase("init"):
        generator = PairGenerator()
    comm.Barrier()
    started = time.perf_counter()
    mine = share(blocks, comm.Get_rank(), comm.Get_size())
    local = generate(phases, log, generator, mine)
    total = np.empty_like(local)
    with phases.phase("sum"), phases.communicating:
        comm.Allreduce(local, total, op=MPI.SUM)
    return verify(phases, log, problem, total, phases.slowest(time.perf_counter() - started))


def generate(phases: Phases, log: Log, generator: PairGenerator, blocks: range) -> Floats:
    """The tally of `blocks`, told in REPORTS steps, as many on every rank."""
    local = np.zeros(2 + RINGS)
    log.line("   part    seconds")
    for part in range(REPORTS):
        started = time.perf_counter()
        with phases.phase("gaussian_pairs", part + 1, REPORTS):
            for index in share(len(blocks), part, REPORTS):
                local += tally(*generator.block(blocks[index]))
        log.line(f"  {part + 1:>2}/{REPORTS} {time.perf_counter() - started:>10.4f}")
    return local


def verify(phases: Phases, log: Log, problem: ProblemClass, total: Floats, seconds: float) -> bool:
    """Hold the sums against the official ones and report, on every rank alike."""
    sum_x, sum_y = float(total[0]), float(total[1])
    counts = [int(count) for count in total[2:]]
    error = max(relative_error(sum_x, problem.sum_x), relative_error(sum_y, problem.sum_y))
    verified = error <= TOLERANCE
    figures = {
        "sum_x": sum_x,
        "sum_x_reference": problem.sum_x,
        "sum_y": sum_y,
        "sum_y_reference": problem.sum_y,
        "error": error,
        "gaussian_pairs": sum(counts),
    }
    mops = 2.0 ** (problem.exponent + 1) / seconds / 1e6
    log.verification(verified, **figures, counts=" ".join(map(str, counts)))
    log.header("", seconds=f"{seconds:.3f}", mops_total=f"{mops:.1f}")
    phases.result(verified, seconds, **figures, counts=counts, mops=mops)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="ep", description="NAS EP: random pairs with normal distribution.")
    parser.class_option(CLASSES)
    launch(parser, run)
