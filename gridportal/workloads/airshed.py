"""Airshed: the spread of smog hour by hour, in phases of unlike kinds between which the layout changes.

    mpiexec -n 5 python -m gridportal.workloads.airshed --class S

Each hour: input by rank 0; then steps of transport (by planes), an all-to-all exchange, chemistry (by
columns), an all-to-all back, transport again; then output to rank 0. Ranks meet after each of them, so
one slow node or link holds up all.
Source: Airshed pollution modeling in Selection 1999, 4.3; chemistry and weather are made up.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.airshed_chemistry import NO2, O3, nitrogen, react
from gridportal.workloads.airshed_input import (
    BACKGROUND,
    LAYERS,
    PLANES,
    SPECIES,
    Floats,
    Hour,
    first_field,
    read_hour,
    shapes,
    unpack,
)
from gridportal.workloads.airshed_layout import Layout, check_ranks
from gridportal.workloads.airshed_transport import transport
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.program_log import Log, relative_error

TOLERANCE = 1e-10


@dataclass(frozen=True)
class ProblemClass:
    """`checksum` is what one rank computes; wind and chemistry steps are per step, of which an hour has `steps`."""

    size: int
    hours: int
    steps: int
    wind_steps: int
    chemistry_steps: int
    checksum: float


CLASSES = {
    "S": ProblemClass(32, 3, 4, 2, 20, 160828.48950237903),
    "W": ProblemClass(64, 6, 6, 3, 60, 2084429.74140281),
    "A": ProblemClass(128, 8, 6, 4, 120, 11644606.819071952),
}


class Output:
    """What rank 0 keeps of the hours: nitrogen emitted and found, highest ozone, and a checksum."""

    def __init__(self, problem: ProblemClass) -> None:
        self._weights = 1.0 + 0.5 * np.sin(np.arange(problem.size**2))
        # Scarce species count as much as plenty ones, and no two planes alike.
        self._scales = np.tile(np.array(BACKGROUND), LAYERS) * (np.arange(PLANES) + 1.0)
        self._nitrogen = nitrogen(first_field(problem.size))
        self.nitrogen_error = 0.0
        self.highest_ozone = 0.0
        self.checksum = 0.0

    def write(self, field: Floats, hour: Hour) -> None:
        self._nitrogen += float(hour.emissions[: NO2 + 1].sum())
        self.nitrogen_error = max(self.nitrogen_error, relative_error(nitrogen(field), self._nitrogen))
        self.highest_ozone = float(field.reshape(LAYERS, len(SPECIES), -1)[0, O3].max())
        self.checksum += float((field @ self._weights / self._scales).sum())


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if nitrogen is kept and the checksum is one rank's."""
    name = arguments.problem_class
    problem = CLASSES[name]
    check_ranks(comm.Get_size())
    log, phases = Log(comm), Phases(comm, "airshed", **{"class": name})
    layout = Layout(comm, problem.size**2, phases.communicating)
    log.header(
        f"Airshed pollution modeling, class {name}",
        points=f"{problem.size} x {problem.size}, {LAYERS} layers, {len(SPECIES)} species",
        hours=f"{problem.hours}, each of {problem.steps} steps",
        ranks=comm.Get_size(),
    )
    with phases.phase("init"):
        field = first_field(problem.size)[layout.planes.start : layout.planes.stop]
    output = Output(problem)
    comm.Barrier()
    started = time.perf_counter()
    simulate(comm, phases, log, problem, layout, field, output)
    return verify(comm, phases, log, problem, output, phases.slowest(time.perf_counter() - started))


def simulate(
    comm: MPI.Intracomm,
    phases: Phases,
    log: Log,
    problem: ProblemClass,
    layout: Layout,
    field: Floats,
    output: Output,
) -> None:
    """All hours; `output` is written on rank 0 only."""
    log.line("    hour  highest ozone    seconds")
    for number in range(problem.hours):
        started = time.perf_counter()
        with phases.phase("input", number + 1, problem.hours):
            hour = read_input(comm, phases, number, problem.size)
        for _ in range(problem.steps):
            field = step(phases, problem, layout, hour, field, number)
        with phases.phase("output", number + 1, problem.hours):
            whole = layout.gather(field)
            if whole is not None:
                output.write(whole, hour)
        log.line(f"  {number + 1:>6} {output.highest_ozone:>14.6f} {time.perf_counter() - started:>10.4f}")


def read_input(comm: MPI.Intracomm, phases: Phases, number: int, size: int) -> Hour:
    """Rank 0 reads, all get all of it."""
    buffer = (
        read_hour(number, size).pack()
        if comm.Get_rank() == 0
        else np.empty(sum(int(np.prod(shape)) for shape in shapes(size)))
    )
    with phases.communicating:
        comm.Bcast(buffer, root=0)
    return unpack(buffer, size)


def step(phases: Phases, problem: ProblemClass, layout: Layout, hour: Hour, field: Floats, number: int) -> Floats:
    """Transport, chemistry, transport, and the exchanges between; `field` by planes."""
    place = {"iteration": number + 1, "of": problem.hours}
    with phases.phase("transport", **place):
        field = transport(field, layout.planes, hour, problem.wind_steps)
    with phases.phase("to_columns", **place):
        columns = layout.to_columns(field)
    with phases.phase("chemistry", **place):
        own = slice(layout.points.start, layout.points.stop)
        sun, emissions = hour.sun.ravel()[own], hour.emissions.reshape(len(SPECIES), -1)[:, own]
        columns = react(columns, sun, emissions, 1.0 / problem.steps, problem.chemistry_steps)
    with phases.phase("to_planes", **place):
        field = layout.to_planes(columns)
    with phases.phase("transport", **place):
        return transport(field, layout.planes, hour, problem.wind_steps)


def verify(
    comm: MPI.Intracomm, phases: Phases, log: Log, problem: ProblemClass, output: Output, seconds: float
) -> bool:
    """Hold the checksum against that of one rank, and nitrogen against what was emitted; alike on all ranks."""
    error = relative_error(output.checksum, problem.checksum)
    verified = bool(comm.bcast(max(error, output.nitrogen_error) <= TOLERANCE))
    figures = {
        "checksum": output.checksum,
        "checksum_reference": problem.checksum,
        "error": error,
        "nitrogen_error": output.nitrogen_error,
        "highest_ozone": output.highest_ozone,
    }
    log.verification(verified, **figures)
    log.header("", seconds=f"{seconds:.3f}")
    phases.result(verified, seconds, **figures)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="airshed", description="Airshed pollution modeling in loosely synchronous phases.")
    parser.class_option(CLASSES)
    launch(parser, run)
