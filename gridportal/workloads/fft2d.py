"""Two-dimensional fast Fourier transforms of a square complex field: FFT(1K) of Selection 1999 at its default size.

    mpiexec -n 4 python -m gridportal.workloads.fft2d --size 1024 --iterations 20

Each transform: FFTs along the rows, an all-to-all transpose, FFTs along what were columns. The result stays
transposed and is transformed again; every value is checked against the exact one in the end.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch, whole
from gridportal.workloads.fft2d_field import exact_rows
from gridportal.workloads.fft2d_slabs import Complexes, Transposition
from gridportal.workloads.program_log import Log

TOLERANCE = 1e-10


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """All transforms on all ranks of `comm`; True if every value agrees with the exact result."""
    size, iterations = arguments.size, arguments.iterations
    if comm.Get_size() > size:
        raise InputError("ranks", comm.Get_size(), f"1 to {size}, a row for each at least")
    log, phases = Log(comm), Phases(comm, "fft2d", size=size, iterations=iterations)
    log.header(
        "Two-dimensional FFT",
        field=f"{size} x {size} complex numbers",
        iterations=iterations,
        ranks=comm.Get_size(),
    )
    with phases.phase("init"):
        transpose = Transposition(comm, phases.communicating, size)
        rows = exact_rows(transpose.own, size, transforms=0)
    comm.Barrier()
    started = time.perf_counter()
    iterate(phases, log, transpose, rows, iterations)
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("verify"):
        error = relative_error(comm, rows, exact_rows(transpose.own, size, iterations))
    return report(phases, log, error, seconds, iterations * operations(size))


def iterate(phases: Phases, log: Log, transpose: Transposition, rows: Complexes, iterations: int) -> None:
    """The timed part: transforms `rows` in place, `iterations` times."""
    log.line("  iteration    seconds")
    for iteration in range(1, iterations + 1):
        started = time.perf_counter()
        with phases.phase("row_ffts", iteration, iterations):
            np.fft.fft(rows, axis=1, norm="ortho", out=rows)
        with phases.phase("transpose", iteration, iterations):
            transpose(rows)
        with phases.phase("column_ffts", iteration, iterations):
            np.fft.fft(rows, axis=1, norm="ortho", out=rows)
        log.line(f"  {iteration:>9} {time.perf_counter() - started:>10.4f}")


def relative_error(comm: MPI.Intracomm, rows: Complexes, exact: Complexes) -> float:
    """The largest deviation over all ranks, relative to the largest value."""
    own = np.array([np.abs(rows - exact).max(), np.abs(exact).max()])
    own[np.isnan(own)] = np.inf  # MPI.MAX may pass over what is not a number
    largest = np.empty_like(own)
    comm.Allreduce(own, largest, op=MPI.MAX)
    return float(largest[0] / largest[1])


def operations(size: int) -> float:
    """Floating-point operations of one transform, as is usual for FFTs."""
    return 5.0 * size**2 * math.log2(size**2)


def report(phases: Phases, log: Log, error: float, seconds: float, operations: float) -> bool:
    """Say whether the result is right, on every rank alike."""
    verified = error <= TOLERANCE
    mops = operations / seconds / 1e6
    log.verification(verified, largest_error=error)
    log.header("", seconds=f"{seconds:.3f}", mops_total=f"{mops:.1f}")
    phases.result(verified, seconds, error=error, tolerance=TOLERANCE, mops=mops)
    return verified


def build_parser() -> Parser:
    parser = Parser(prog="fft2d", description="Two-dimensional FFTs of a square field, verified at every point.")
    parser.add_argument("--size", type=whole("size", 16, 16_384), default=1024, help="rows and columns (default 1024)")
    parser.add_argument("--iterations", type=whole("iterations", 1, 10_000), default=20, help="transforms (default 20)")
    return parser


if __name__ == "__main__":
    launch(build_parser(), run)
