"""Four ranks: 0 sends to 2 and 1 to 3 at once, for as many seconds as are given; prints bit/s of both as JSON."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from mpi4py import MPI

BLOCK = np.zeros(256 * 1024, dtype=np.uint8)


def send(comm: MPI.Comm, to: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        comm.Send(BLOCK, dest=to)
    comm.Send(BLOCK[:0], dest=to)


def receive(comm: MPI.Comm, source: int) -> float:
    """Bit/s from the second block on."""
    room, state, total, begin = np.empty_like(BLOCK), MPI.Status(), 0, 0.0
    while True:
        comm.Recv(room, source=source, status=state)
        if state.Get_count(MPI.BYTE) == 0:
            return 8 * total / (time.monotonic() - begin)
        total += len(room) if begin else 0
        begin = begin or time.monotonic()


def main() -> None:
    comm = MPI.COMM_WORLD
    comm.Barrier()
    found = send(comm, comm.rank + 2, float(sys.argv[1])) if comm.rank < 2 else receive(comm, comm.rank - 2)
    rates = comm.gather(found)
    if rates:
        sys.stdout.write(json.dumps(rates[2:]) + "\n")


if __name__ == "__main__":
    main()
