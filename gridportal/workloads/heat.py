"""The heat equation on a plate with cold edges: explicit five-point stencil, blocks on a 2-D grid of ranks.

    mpiexec -n 4 python -m gridportal.workloads.heat --rows 512 --columns 512 --steps 1000

The plate starts in its slowest sine mode, which the stencil multiplies by one known factor each step: the
exact result is known at every point, for any number of ranks. It can be stopped, and goes on with others.
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
from gridportal.runtime.phases import Phases
from gridportal.workloads import stoppable
from gridportal.workloads.commandline import Parser, launch, whole
from gridportal.workloads.heat_grid import plate_layout, process_grid
from gridportal.workloads.heat_plate import Plate, decay, make_plate
from gridportal.workloads.program_log import Log

REPORTS = 20
TOLERANCE = 1e-10
# Below this the mode drowns in the smallest doubles and there is nothing left to verify.
FAINTEST = 1e-200
# Points of a rank from which on a step takes so long that a look whether to stop comes earlier.
MANY = 2**20


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run all steps on all ranks of `comm`; True if every point agrees with the exact result, or the run was stopped
    before."""
    rows, columns, steps = arguments.rows, arguments.columns, arguments.steps
    check_steps(rows, columns, steps)
    dims = process_grid(comm.Get_size(), rows, columns)
    log = Log(comm)
    phases = Phases(comm, "heat", rows=rows, columns=columns, steps=steps)
    log.header(
        "Heat equation, five-point stencil",
        plate=f"{rows} x {columns} points",
        steps=steps,
        ranks=f"{comm.Get_size()} as a {dims[0]} x {dims[1]} grid",
    )
    with phases.phase("init"):
        plate = make_plate(comm.Create_cart(dims, reorder=False), rows, columns, phases.communicating)
        done = np.zeros(1, dtype=np.int64)
        state = stoppable.begin(comm)
        state.register("plate", plate.saved, (rows, columns), plate_layout(rows, columns, dims))
        state.register("done", done)
        state.store_map()
    if state.restart_value():  # in no phase: what reading takes is the move's, and no contract promises it
        for name in state.registered:
            state.read(name)
        plate.restore()
    comm.Barrier()
    started, began = time.perf_counter(), int(done[0])
    course = Course(steps, arguments.every or math.ceil(steps / REPORTS), look(rows * columns // comm.Get_size()))
    stopped = advance(phases, log, plate, done, course, state)
    state.finish()
    if stopped:
        log.line(f"STOPPED after {done[0]} of {steps} steps")
        return True
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        error = plate.relative_error(decay(rows, columns) ** steps)
        checksum = plate.checksum()
    return report(phases, log, error, checksum, seconds, rows * columns * (steps - began))


@dataclass(frozen=True)
class Course:
    """Numbers of steps: in all, to a phase, and between two looks whether to stop."""

    steps: int
    every: int
    look: int


def look(points: int) -> int:
    """Steps between two looks whether to stop, for so many points a rank: before each the plate is copied out of its
    halo, which costs up to a third of a step of a small plate, and a fifteenth of that of a large one."""
    return 64 if points < MANY else 16


def check_steps(rows: int, columns: int, steps: int) -> None:
    """Raises InputError when the plate would be too cold in the end to verify anything."""
    most = int(math.log(FAINTEST) / math.log(decay(rows, columns)))
    if steps > most:
        raise InputError("steps", steps, f"1 to {most} on {rows} x {columns} points (then nothing is left)")


def advance(
    phases: Phases, log: Log, plate: Plate, done: NDArray[np.int64], course: Course, state: stoppable.State
) -> bool:
    """The steps that are left; True when the run is to stop before their end."""
    log.line("       step    seconds")
    steps, every, stopped = course.steps, course.every, False
    while done[0] < steps and not stopped:
        started, index = time.perf_counter(), int(done[0]) // every
        end = min((index + 1) * every, steps)
        with phases.phase("steps", index + 1, math.ceil(steps / every)):
            while done[0] < end and not stopped:
                plate.step()
                done[0] += 1
                if done[0] % course.look == 0:
                    plate.save()
                    stopped = bool(state.check_stop())
        log.line(f"  {done[0]:>9} {time.perf_counter() - started:>10.4f}")
    return stopped


def report(phases: Phases, log: Log, error: float, checksum: str, seconds: float, updates: int) -> bool:
    """Say whether the plate is right, on every rank alike."""
    verified = error <= TOLERANCE
    mops = updates / seconds / 1e6
    log.verification(verified, largest_error=error, checksum=checksum)
    log.header("", seconds=f"{seconds:.3f}", updates=f"{mops:.1f} million points a second")
    phases.result(verified, seconds, error=error, tolerance=TOLERANCE, checksum=checksum, mops=mops)
    return verified


def build_parser() -> Parser:
    parser = Parser(prog="heat", description="Two-dimensional heat equation, verified against its exact decay.")
    parser.add_argument("--rows", type=whole("rows", 1, 20_000), default=512, help="points down (default 512)")
    parser.add_argument("--columns", type=whole("columns", 1, 20_000), default=512, help="points across (default 512)")
    parser.add_argument("--steps", type=whole("steps", 1, 100_000), default=1000, help="time steps (default 1000)")
    parser.add_argument(
        "--every", type=whole("every", 1, 100_000), help="steps per reported phase (default a twentieth of all)"
    )
    return parser


if __name__ == "__main__":
    launch(build_parser(), run)
