"""The readable log of a program: rank 0 prints, every line at once, so that it can be followed live."""

from __future__ import annotations

from mpi4py import MPI

from gridportal.runtime.phases import Phases


class Log:
    """Prints on rank 0 of `comm`; silent on all others."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._speaks = comm.Get_rank() == 0

    def line(self, text: str = "") -> None:
        if self._speaks:
            print(text, flush=True)

    def header(self, title: str, **facts: object) -> None:
        """What runs, then one fact a line."""
        self.line(title)
        for name, value in facts.items():
            self.line(f"  {name.replace('_', ' '):<14} {value}")

    def verification(self, verified: bool, **figures: object) -> None:
        """The line that people look for, then the figures it rests on."""
        self.line(f"VERIFICATION {'SUCCESSFUL' if verified else 'FAILED'}")
        for name, value in figures.items():
            shown = f"{value:.13e}" if isinstance(value, float) else value
            self.line(f"  {name.replace('_', ' '):<14} {shown}")


def relative_error(value: float, reference: float) -> float:
    """|value - reference| / |reference|, as the benchmarks define it.

    >>> relative_error(-1.5, -1.0)
    0.5
    """
    return abs((value - reference) / reference)


def conclude(
    phases: Phases, log: Log, verified: bool, seconds: float, operations: float, figures: dict[str, float]
) -> None:
    """The last lines of a NAS program in the log, and its result for the portal; `operations` in all `seconds`."""
    mops = operations / seconds / 1e6
    log.verification(verified, **figures)
    log.header("", seconds=f"{seconds:.3f}", mops_total=f"{mops:.1f}")
    phases.result(verified, seconds, **figures, mops=mops)
