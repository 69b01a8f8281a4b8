"""NAS FT: a partial differential equation solved among its frequencies, by three-dimensional FFTs.

    mpiexec -n 4 python -m gridportal.workloads.ft --class S

Few and long messages: each transform sends the whole field from every rank to every other.
Source: NAS Parallel Benchmarks, RNR-94-007 (kernel FT), and the benchmarks' MPI version with its slabs.
NPB's untimed rehearsal of the first transform is left out.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.ft_classes import CLASSES, ProblemClass
from gridportal.workloads.ft_field import checksum, decay, initial_field
from gridportal.workloads.ft_slabs import Complexes, SlabTransform
from gridportal.workloads.program_log import Log, conclude
from gridportal.workloads.rank_counts import power_of_two

TOLERANCE = 1e-12


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if the checksums of all iterations are the official ones."""
    name = arguments.problem_class
    problem = CLASSES[name]
    nz, ny, nx = problem.shape
    power_of_two(comm.Get_size(), min(nz, ny))
    log, phases = Log(comm), Phases(comm, "ft", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: FT, class {name}",
        field=f"{nx} x {ny} x {nz} complex numbers",
        iterations=problem.iterations,
        ranks=comm.Get_size(),
    )
    comm.Barrier()
    started = time.perf_counter()
    with phases.phase("init"):
        transform = SlabTransform(comm, phases.communicating, problem.shape)
        field = initial_field(problem.shape, _part(nz, comm))
        factors = decay(problem.shape, _part(ny, comm))
    with phases.phase("forward_fft"):
        spectrum = transform.forward(field)
    sums = iterate(comm, phases, log, problem, transform, spectrum, factors, field)
    return verify(phases, log, problem, sums, phases.slowest(time.perf_counter() - started))


def _part(length: int, comm: MPI.Intracomm) -> range:
    own = length // comm.Get_size()
    return range(comm.Get_rank() * own, (comm.Get_rank() + 1) * own)


def iterate(
    comm: MPI.Intracomm,
    phases: Phases,
    log: Log,
    problem: ProblemClass,
    transform: SlabTransform,
    spectrum: Complexes,
    factors: np.ndarray,
    field: Complexes,
) -> list[complex]:
    """All time steps from `spectrum`; the checksum of the field after each. `field` is space to work in."""
    sums = []
    evolved = np.empty_like(spectrum)
    log.line("  iteration                                checksum    seconds")
    for iteration in range(1, problem.iterations + 1):
        started = time.perf_counter()
        with phases.phase("evolve", iteration, problem.iterations):
            spectrum *= factors
            evolved[...] = spectrum
        with phases.phase("inverse_fft", iteration, problem.iterations):
            transform.inverse(evolved, field)
            own_sum = checksum(field, problem.shape, _part(problem.shape[0], comm))
            with phases.communicating:
                sums.append(comm.allreduce(own_sum))
        seconds = time.perf_counter() - started
        log.line(f"  {iteration:>9} {sums[-1].real:>19.12e} {sums[-1].imag:>19.12e} {seconds:>10.4f}")
    return sums


def verify(phases: Phases, log: Log, problem: ProblemClass, sums: list[complex], seconds: float) -> bool:
    """Hold the checksums against the official ones and report, on every rank alike."""
    pairs = list(zip(sums, problem.checksums, strict=True))
    error = float(np.max([abs((own - official) / official) for own, official in pairs]))  # max() may hide a NaN
    verified = error <= TOLERANCE
    last, reference = pairs[-1]
    figures = {
        "checksum_real": last.real,
        "checksum_imaginary": last.imag,
        "reference_real": reference.real,
        "reference_imaginary": reference.imag,
        "error": error,
    }
    conclude(phases, log, verified, seconds, problem.operations(), figures)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="ft", description="NAS FT: three-dimensional FFTs.")
    parser.class_option(CLASSES)
    launch(parser, run)
