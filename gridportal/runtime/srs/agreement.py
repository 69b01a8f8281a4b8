"""What one rank finds wrong all ranks learn at the same call, so that none waits for a rank that has given up."""

from __future__ import annotations

from collections.abc import Callable

from mpi4py import MPI

from gridportal.base.errors import GridPortalError, InputError

Step = Callable[[], object]


def agreed(comm: MPI.Intracomm, step: Step, *, only_first: bool = False) -> str:
    """Do `step` on all ranks, or on rank 0 only; on all of them the first sentence why it failed, "" where it did not.
    Collective."""
    problem = ""
    if not (only_first and comm.Get_rank()):
        try:
            step()
        except (OSError, GridPortalError, MemoryError) as error:
            problem = _sentence(error)
    return next((each for each in comm.allgather(problem) if each), "")


def _sentence(error: Exception) -> str:
    """Of what the system refuses: the path, and why.

    >>> _sentence(OSError(28, "No space left on device", "/data/checkpoints"))
    '/data/checkpoints: No space left on device.'
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename is not None else f"{error.strerror}."
    return str(error) or type(error).__name__


def together(comm: MPI.Intracomm, check: Step) -> None:
    """Raise on every rank the InputError of the first rank whose `check` raises one. Collective."""
    wrong: tuple[str, str, str] | None = None
    try:
        check()
    except InputError as error:
        wrong = (error.field, str(error.value), error.accepted)
    first = next((each for each in comm.allgather(wrong) if each), None)
    if first is not None:
        raise InputError(*first)


def on_first(comm: MPI.Intracomm, step: Step) -> None:
    """Do something on rank 0. Raises GridPortalError on all ranks where it fails. Collective."""
    if problem := agreed(comm, step, only_first=True):
        raise GridPortalError(problem)
