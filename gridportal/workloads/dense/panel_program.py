"""What the programs that work on a dense matrix panel by panel have in common: to start or go on, to stop, to check.

All that a problem names in `arrays` is registered with SRS, so that a run that is stopped after any panel goes on with
another number of ranks, and with blocks of another size (Migration 2003, sections 5 and 8).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.runtime.phases import Phases
from gridportal.runtime.srs.layouts import Layout
from gridportal.workloads import stoppable
from gridportal.workloads.commandline import Parser, whole
from gridportal.workloads.dense.grid_shapes import grid_shape
from gridportal.workloads.dense.memory_limit import check_memory
from gridportal.workloads.dense.process_grid import Floats, ProcessGrid
from gridportal.workloads.program_log import Log

#: What scaled errors stay below when the result is right.
TOLERANCE = 16.0
MOST, MOST_BLOCK = 100_000, 512
#: Bytes that a rank needs beside what grows with the matrix.
_WORKSPACE = 64 * 2**20

#: An array of this rank: its name, itself, and the shape and layout of the whole; None for what all ranks have alike.
Registered = tuple[str, NDArray[Any], tuple[int, ...] | None, Layout | None]


class Problem(Protocol):
    """A matrix of which a part of the columns is done, the same part on all ranks of a grid. All methods but `arrays`
    are collective."""

    def arrays(self) -> Iterable[Registered]:
        """What a checkpoint must have."""

    def fill(self) -> None:
        """Make the matrix as it is at the beginning."""

    def step(self, begin: int) -> int:
        """Do the panel that begins at column `begin`; where the next one begins."""

    def solve(self) -> Floats:
        """What was to be found, once all panels are done; on every rank."""

    def scaled_error(self, solution: Floats) -> float:
        """How far from right that is, in units of what rounding explains; the same on every rank."""


@dataclass(frozen=True)
class PanelProgram:
    """A program: how it is called, its problem from grid, size and block, how its last phase and its error are called,
    and the floating-point operations for a matrix of a size."""

    name: str
    title: str
    problem: Callable[[ProcessGrid, int, int], Problem]
    solving: str
    error: str
    operations: Callable[[int], float]


def run(comm: MPI.Intracomm, arguments: argparse.Namespace, program: PanelProgram) -> bool:
    """Run it on all ranks of `comm`; True when the result is right, or the run was stopped before there is one."""
    size, block = arguments.size, arguments.block
    check_memory(comm, size, needed_bytes(comm.Get_size(), size, block))
    log, phases = Log(comm), Phases(comm, program.name, size=size, block=block)
    rows, columns = grid_shape(comm.Get_size())
    log.header(
        program.title,
        matrix=f"{size} x {size}",
        block=block,
        ranks=f"{comm.Get_size()} as a {rows} x {columns} grid",
    )
    with phases.phase("init"):
        problem, done = program.problem(ProcessGrid(comm, phases.communicating), size, block), np.zeros(1, np.int64)
        state = stoppable.begin(comm)
        for name, array, shape, layout in (*problem.arrays(), ("done", done, None, None)):
            state.register(name, array, shape, layout)
        state.store_map()
        if not state.restart_value():
            problem.fill()
    if state.restart_value():  # in no phase: what reading takes is the move's, and no contract promises it
        for name in state.registered:
            state.read(name)
    comm.Barrier()
    began, started = int(done[0]), time.perf_counter()
    stopped = advance(phases, log, problem, done, arguments, state)
    state.finish()
    if stopped:
        log.line(f"STOPPED with {done[0]} of {size} columns done")
        return True
    with phases.phase(program.solving):
        solution = problem.solve()
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        error = problem.scaled_error(solution)
    return report(phases, log, {program.error: error}, seconds, program.operations(size - began))


def advance(
    phases: Phases,
    log: Log,
    problem: Problem,
    done: NDArray[np.int64],
    arguments: argparse.Namespace,
    state: stoppable.State,
) -> bool:
    """Panel by panel, to the end or until the run is to stop; True when it is."""
    log.line("      panel    columns    seconds")
    size, block = arguments.size, arguments.block
    while done[0] < size:
        number, started = int(done[0]) // block + 1, time.perf_counter()
        with phases.phase("panel", number, -(-size // block)):
            done[0] = problem.step(int(done[0]))
        log.line(f"  {number:>9} {done[0]:>10} {time.perf_counter() - started:>10.4f}")
        if state.check_stop():
            return True
    return False


def needed_bytes(ranks: int, size: int, block: int) -> int:
    """The most that a rank needs: its blocks, and some panels of them.

    >>> needed_bytes(4, 8000, 64) // 10**6
    221
    """
    rows, columns = grid_shape(ranks)
    own_rows, own_columns = (-(-size // (block * parts)) * block for parts in (rows, columns))
    return 8 * (own_rows * own_columns + 6 * block * (own_rows + own_columns)) + _WORKSPACE


def report(phases: Phases, log: Log, error: dict[str, float], seconds: float, operations: float) -> bool:
    """Say whether the result is right, on every rank alike; `operations`: what this run did of them."""
    verified = all(value <= TOLERANCE for value in error.values())
    mops = operations / seconds / 1e6
    log.verification(verified, **error)
    log.header("", seconds=f"{seconds:.3f}", mops_total=f"{mops:.1f}")
    phases.result(verified, seconds, **error, tolerance=TOLERANCE, mops=mops)
    return verified


def build_parser(prog: str, description: str) -> Parser:
    parser = Parser(prog=prog, description=description)
    parser.add_argument("--size", type=whole("size", 1, MOST), default=1000, help="rows and columns (default 1000)")
    parser.add_argument(
        "--block", type=whole("block", 1, MOST_BLOCK), default=64, help="rows and columns of a block (default 64)"
    )
    return parser
