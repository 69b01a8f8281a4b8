"""Refuses a matrix that a node has no memory for, alike on every rank, before anything is allocated."""

from __future__ import annotations

import math
import socket

from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.runtime.srs.free_memory import free_memory


def check_memory(comm: MPI.Intracomm, size: int, needed: int) -> None:
    """Raise InputError, on every rank, where the ranks of a node need more than it has free. Collective.

    `needed`: bytes of this rank, which grow with the square of `size`. A node that does not tell what is free is
    believed to have enough.
    """
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    together = node.allreduce(needed)
    node.Free()
    free = free_memory() or math.inf
    share, host, free = comm.allreduce((free / together, socket.gethostname(), free), op=MPI.MIN)
    if share < 1:
        most = int(size * math.sqrt(share))
        raise InputError("size", size, f"at most about {most:,}: node {host} has {free / 2**30:.1f} GiB of memory free")
