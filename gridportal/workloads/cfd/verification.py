"""LU's and BT's verification: ten norms against the official ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.cfd.exact import Floats
from gridportal.workloads.program_log import Log

TOLERANCE = 1e-8


@dataclass(frozen=True)
class Reference:
    """Official root-mean-square norms of the five unknowns: of the last residual, and of the error."""

    residual: tuple[float, float, float, float, float]
    error: tuple[float, float, float, float, float]


def norms(comm: MPI.Intracomm, squares: Floats, size: int) -> Floats:
    """Root mean squares over the inner points of the whole cube, from each rank's sums; (5,) on all."""
    total = np.empty(5)
    comm.Allreduce(squares, total, op=MPI.SUM)
    return np.sqrt(total / (size - 2) ** 3)


def verify(phases: Phases, log: Log, reference: Reference, residual: Floats, error: Floats, seconds: float) -> bool:
    """Hold all ten norms against the official ones and report, on every rank alike."""
    found = np.concatenate([residual, error])
    official = np.array(reference.residual + reference.error)
    worst = float(np.max(np.abs(found / official - 1.0)))
    verified = worst <= TOLERANCE
    log.verification(verified, largest_error=worst)
    for name, values, wanted in (
        ("residual norms", residual, reference.residual),
        ("error norms", error, reference.error),
    ):
        log.line(f"  {name:<18} {'official':>22}")
        for value, right in zip(values, wanted, strict=True):
            log.line(f"  {value:>18.13e} {right:>22.13e}")
    log.header("", seconds=f"{seconds:.3f}")
    phases.result(
        verified,
        seconds,
        error=worst,
        residual_norms=[float(value) for value in residual],
        error_norms=[float(value) for value in error],
    )
    return verified
