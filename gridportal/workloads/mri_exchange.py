"""The messages between MRI's master, rank 0, and its workers: work out, results in, whoever is first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from gridportal.workloads.mri_kernels import Result
from gridportal.workloads.mri_scan import Complexes, Floats

if TYPE_CHECKING:
    from gridportal.runtime.phases import CommunicationClock

END = 0  # tag of the message that ends a volume; that of slice i is i + 1

Work = Callable[[int, Complexes], Result]


def share_references(comm: MPI.Intracomm, references: Complexes, clock: CommunicationClock) -> None:
    """Bring the first volume's raw data (slices, size, size) from rank 0 to every worker."""
    with clock:
        if comm.Get_rank() > 0:
            comm.Recv(references, source=0)
            return
        for worker in range(1, comm.Get_size()):
            comm.Send(references, dest=worker)


def hand_out(
    comm: MPI.Intracomm, raws: Iterator[Complexes], size: int, clock: CommunicationClock
) -> Iterator[tuple[int, Result, int]]:
    """Rank 0's side: give each worker a slice, and another one whenever a result comes back.

    So a slow node, or one behind a slow link, simply gets fewer. Yields (slice, result, worker) in the
    order of arrival.
    """
    numbered = enumerate(raws)
    busy = sum(_give_next(comm, worker, numbered, clock) for worker in range(1, comm.Get_size()))
    status, answer = MPI.Status(), np.empty(2 + size * size)
    while busy:
        with clock:
            comm.Recv(answer, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        worker = status.Get_source()
        yield status.Get_tag() - 1, _unpack(answer, size), worker
        busy -= not _give_next(comm, worker, numbered, clock)


def _give_next(
    comm: MPI.Intracomm, worker: int, numbered: Iterator[tuple[int, Complexes]], clock: CommunicationClock
) -> bool:
    """The next slice to `worker`; or the end, and False."""
    index, raw = next(numbered, (END - 1, None))
    with clock:
        comm.Send(np.empty((0, 0), dtype=np.complex128) if raw is None else raw, dest=worker, tag=index + 1)
    return raw is not None


def serve(comm: MPI.Intracomm, size: int, work: Work, clock: CommunicationClock) -> int:
    """A worker's side: do what rank 0 sends until it ends the volume; returns how many slices."""
    status, raw = MPI.Status(), np.empty((size, size), dtype=np.complex128)
    done = 0
    while True:
        with clock:
            comm.Recv(raw, source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == END:
            return done
        answer = _pack(work(status.Get_tag() - 1, raw))
        with clock:
            comm.Send(answer, dest=0, tag=status.Get_tag())
        done += 1


def _pack(result: Result) -> Floats:
    return np.concatenate([result.motion, result.picture.ravel()])


def _unpack(answer: Floats, size: int) -> Result:
    return Result(picture=answer[2:].reshape(size, size).copy(), motion=answer[:2].copy())
