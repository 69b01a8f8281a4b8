"""The scalar field of two orbiting sources: the 3-D wave equation, cut into slabs of planes of unequal thickness.

    mpiexec -n 2 python -m gridportal.workloads.cactus --x 100 --y 100 --z 200 --iterations 100 --shares 146,54

In every iteration each rank exchanges one plane with the rank before and the one after it, then updates its points. The
energy of the field must have grown by the work of the sources, and the field has the same bits for any number of ranks
and any shares. It can be stopped, and goes on with others. Source: Set matching 2002, 4, where Cactus does the same.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from gridportal.base.work_shares import shares
from gridportal.runtime.phases import Phases
from gridportal.runtime.srs import layouts
from gridportal.workloads import stoppable
from gridportal.workloads.commandline import Parser, launch, whole
from gridportal.workloads.program_log import Log
from gridportal.workloads.wave_block import WaveBlock

REPORTS = 20
TOLERANCE = 1e-9
MOST_POINTS, MOST_ITERATIONS = 2_000, 1_000_000
#: Iterations between two looks whether to stop: even, for the two fields change places in each.
LOOK = 32


@dataclass(frozen=True, slots=True)
class Course:
    """Iterations in all, and to a reported phase."""

    iterations: int
    every: int


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run all iterations on all ranks of `comm`; True if the energy is right, or the run was stopped before."""
    shape = (arguments.z, arguments.y, arguments.x)
    planes = planes_of(arguments.shares, arguments.z, comm.Get_size())
    log = Log(comm)
    phases = Phases(
        comm, "cactus", x=arguments.x, y=arguments.y, z=arguments.z, iterations=arguments.iterations, planes=planes
    )
    log.header(
        "Scalar wave of two orbiting sources",
        points=f"{arguments.x} x {arguments.y} x {arguments.z}",
        iterations=arguments.iterations,
        ranks=comm.Get_size(),
        planes=" ".join(map(str, planes)),
    )
    done = np.zeros(1, dtype=np.int64)
    with phases.phase("init"):
        block = WaveBlock(comm, shape, planes, phases.communicating)
        state = begin(comm, block, done, shape, planes)
    if state.restart_value():  # in no phase: what reading takes is the move's, and no contract promises it
        for name in state.registered:
            state.read(name)
    before = block.energy()
    comm.Barrier()
    started, first = time.perf_counter(), int(done[0])
    course = Course(arguments.iterations, arguments.every or math.ceil(arguments.iterations / REPORTS))
    stopped = advance(phases, log, block, done, course, state)
    state.finish()
    if stopped:
        log.line(f"STOPPED after {done[0]} of {arguments.iterations} iterations")
        return True
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        error, checksum = imbalance(before, block.energy(), block.work()), block.checksum()
    return report(phases, log, error, checksum, seconds, math.prod(shape) * (arguments.iterations - first))


def planes_of(text: str, depth: int, ranks: int) -> list[int]:
    """The planes of each rank: in proportion to `text`, a number for each, or nearly equal where there is none.

    Raises InputError for numbers that are none or not one for each rank, and for more ranks than planes.

    >>> planes_of("2.7,1", 200, 2), planes_of("", 10, 3)
    ([146, 54], [4, 3, 3])
    """
    accepted = f"{ranks} numbers above 0 with commas between, one for each rank"
    try:
        weights = [float(word) for word in text.split(",")] if text else [1.0] * ranks
    except ValueError as error:
        raise InputError("shares", text, accepted) from error
    if len(weights) != ranks or not all(0 < weight < math.inf for weight in weights):
        raise InputError("shares", text, accepted)
    if ranks > depth:
        raise InputError("ranks", ranks, f"at most {depth}, a rank for each plane of z")
    return [int(part) for part in shares(weights, depth)]


def begin(
    comm: MPI.Intracomm, block: WaveBlock, done: NDArray[np.int64], shape: tuple[int, int, int], planes: list[int]
) -> stoppable.State:
    """Begin SRS with the fields and how far they are."""
    state = stoppable.begin(comm)
    for name, field in zip(("now", "before"), block.fields, strict=True):
        state.register(name, field, shape, layouts.shares(planes))
    state.register("done", done)
    state.store_map()
    return state


def advance(
    phases: Phases, log: Log, block: WaveBlock, done: NDArray[np.int64], course: Course, state: stoppable.State
) -> bool:
    """The iterations that are left; True when the run is to stop before their end."""
    log.line("  iteration    seconds")
    iterations, every, stopped = course.iterations, course.every, False
    while done[0] < iterations and not stopped:
        started, index = time.perf_counter(), int(done[0]) // every
        end = min((index + 1) * every, iterations)
        with phases.phase("evolve", index + 1, math.ceil(iterations / every)):
            while done[0] < end and not stopped:
                block.step(int(done[0]))
                done[0] += 1
                if done[0] % LOOK == 0:
                    stopped = bool(state.check_stop())
        log.line(f"  {done[0]:>9} {time.perf_counter() - started:>10.4f}")
    return stopped


def imbalance(before: float, after: float, work: float) -> float:
    """How far the energy is from what it was and the work since, as a part of the largest of the three."""
    largest = max(abs(before), abs(after), abs(work))
    return abs(after - before - work) / largest if largest else 0.0


def report(phases: Phases, log: Log, error: float, checksum: str, seconds: float, updates: int) -> bool:
    """Say whether the energy is right, on every rank alike."""
    verified = error <= TOLERANCE
    mops = updates / seconds / 1e6
    log.verification(verified, energy_error=error, checksum=checksum)
    log.header("", seconds=f"{seconds:.3f}", updates=f"{mops:.1f} million points a second")
    phases.result(verified, seconds, error=error, tolerance=TOLERANCE, checksum=checksum, mops=mops)
    return verified


def build_parser() -> Parser:
    parser = Parser(prog="cactus", description="The 3-D scalar field of two orbiting sources, verified by its energy.")
    for name, default in (("x", 64), ("y", 64), ("z", 128)):
        kind = whole(name, 2, MOST_POINTS)
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"points along {name} (default {default})")
    parser.add_argument(
        "--iterations", type=whole("iterations", 1, MOST_ITERATIONS), default=100, help="time steps (default 100)"
    )
    parser.add_argument(
        "--shares", default="", help="what each rank has of z, in proportion: 146,54 (default: all the same)"
    )
    parser.add_argument(
        "--every",
        type=whole("every", 1, MOST_ITERATIONS),
        help="iterations per reported phase (default a twentieth of all)",
    )
    return parser


if __name__ == "__main__":
    launch(build_parser(), run)
