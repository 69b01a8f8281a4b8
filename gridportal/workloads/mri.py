"""MRI: pictures of a moving head from raw scanner data, by a master and its workers.

    mpiexec -n 4 python -m gridportal.workloads.mri --class S

Rank 0 hands out slices one by one and collects them; workers compute. It adapts by itself to slow nodes
and links, and so suffers least from a bad choice of nodes.
Source: the MRI program (epi data set) of Selection 1999, 4.3; here on synthetic data, whose motion
is known.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.mri_exchange import Work, hand_out, serve, share_references
from gridportal.workloads.mri_kernels import Result, process
from gridportal.workloads.mri_scan import Floats, Scan
from gridportal.workloads.program_log import Log, relative_error

TOLERANCE = 1e-10


@dataclass(frozen=True)
class ProblemClass:
    """`checksum` is what one rank computes; `steps` is the work spent on each slice's motion."""

    size: int
    slices: int
    volumes: int
    steps: int
    checksum: float


CLASSES = {
    "S": ProblemClass(64, 16, 8, 10, 5.0099551418877e04),
    "W": ProblemClass(64, 24, 40, 40, 2.5158935789391e06),
    "A": ProblemClass(128, 32, 40, 60, 8.8543014388837e06),
}


class Ledger:
    """What rank 0 keeps: the largest error of the motion, the weighted sum of the pictures, who did what."""

    def __init__(self, problem: ProblemClass, ranks: int) -> None:
        self.motion_error = 0.0
        self.checksum = 0.0
        self.slices_by_rank = [0] * ranks
        places = np.arange(problem.size) + 1.0
        self._weights = (1.0 + 0.5 * np.outer(np.cos(places), np.sin(places))) / problem.size
        self._sums = np.zeros(problem.slices)

    def enter(self, index: int, result: Result, true_motion: Floats, rank: int) -> None:
        self.motion_error = max(self.motion_error, float(np.abs(result.motion - true_motion).max()))
        self._sums[index] = float((result.picture * self._weights).sum())
        self.slices_by_rank[rank] += 1

    def close(self, volume: int) -> None:
        """Add a volume's slices in their order, whatever order they came in."""
        self.checksum += float(self._sums @ (np.arange(len(self._sums)) + 1.0)) * (volume + 1)


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if the motion and the pictures are right."""
    name = arguments.problem_class
    problem = CLASSES[name]
    log, phases = Log(comm), Phases(comm, "mri", **{"class": name})
    log.header(
        f"Magnetic resonance imaging, class {name}",
        slices=f"{problem.slices} of {problem.size} x {problem.size} points",
        volumes=problem.volumes,
        ranks=f"{comm.Get_size()}, one of them the master" if comm.Get_size() > 1 else 1,
    )
    references = np.empty((problem.slices, problem.size, problem.size), dtype=np.complex128)
    with phases.phase("scan"):
        scan = Scan(problem.size, problem.slices) if comm.Get_rank() == 0 else None
        if scan is not None:
            references[:] = [scan.raw(index, 0) for index in range(problem.slices)]
    comm.Barrier()
    started = time.perf_counter()
    with phases.phase("references"):
        share_references(comm, references, phases.communicating)

    def work(index: int, raw: np.ndarray) -> Result:
        return process(raw, references[index], problem.steps)

    ledger = image(comm, phases, log, problem, scan, work)
    seconds = phases.slowest(time.perf_counter() - started)
    return verify(comm, phases, log, problem, ledger, seconds)


def image(
    comm: MPI.Intracomm, phases: Phases, log: Log, problem: ProblemClass, scan: Scan | None, work: Work
) -> Ledger:
    """All volumes, one phase each; the ledger is filled on rank 0, which alone has the `scan`."""
    ledger = Ledger(problem, comm.Get_size())
    log.line("  volume    seconds")
    for volume in range(problem.volumes):
        started = time.perf_counter()
        with phases.phase("images", volume + 1, problem.volumes):
            if scan is None:
                serve(comm, problem.size, work, phases.communicating)
                continue
            for index, result, rank in results(comm, phases, scan, volume, work):
                ledger.enter(index, result, scan.motion(volume), rank)
            ledger.close(volume)
        log.line(f"  {volume + 1:>6} {time.perf_counter() - started:>10.4f}")
    return ledger


def results(
    comm: MPI.Intracomm, phases: Phases, scan: Scan, volume: int, work: Work
) -> Iterator[tuple[int, Result, int]]:
    """One volume's (slice, result, rank), from the workers; a single rank works itself."""
    raws = (scan.raw(index, volume) for index in range(scan.slices))
    if comm.Get_size() == 1:
        return ((index, work(index, raw), 0) for index, raw in enumerate(raws))
    return hand_out(comm, raws, scan.size, phases.communicating)


def verify(
    comm: MPI.Intracomm, phases: Phases, log: Log, problem: ProblemClass, ledger: Ledger, seconds: float
) -> bool:
    """Hold motion and checksum against what they must be and report; the same answer on every rank."""
    error = relative_error(ledger.checksum, problem.checksum)
    verified = bool(comm.bcast(max(error, ledger.motion_error) <= TOLERANCE))
    figures = {
        "checksum": ledger.checksum,
        "checksum_reference": problem.checksum,
        "error": error,
        "motion_error": ledger.motion_error,
    }
    log.verification(verified, **figures)
    log.header("", seconds=f"{seconds:.3f}", slices_by_rank=" ".join(map(str, ledger.slices_by_rank)))
    phases.result(verified, seconds, **figures, slices_by_rank=ledger.slices_by_rank)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="mri", description="Magnetic resonance imaging by a master and its workers.")
    parser.class_option(CLASSES)
    launch(parser, run)
