"""A ping-pong between two MPI ranks: prints the bit/s that each direction had and the bytes sent, as one JSON line.

Run as `mpiexec -n 2 python -m gridportal.testbed.pingpong RATE_FORTH RATE_BACK`: the expected rates choose the size.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from mpi4py import MPI

_SECONDS = 0.12
_REPEATS = 3
_MOST = 64_000_000  # bytes of a message, at rates that few machines reach


def main(argv: list[str]) -> None:
    """Measure rank 0 to 1 and back."""
    comm = MPI.COMM_WORLD
    if comm.size != 2:
        raise SystemExit(f"the world has {comm.size} ranks; a ping-pong takes 2.")
    expected = [float(text) for text in argv]
    rates = [measure(comm, sender, rate) for sender, rate in enumerate(expected)]
    if comm.rank == 0:
        sent = _REPEATS * sum(map(_size, expected))
        sys.stdout.write(json.dumps({"rates": rates, "sent": sent}) + "\n")


def measure(comm: MPI.Comm, sender: int, expected: float) -> float:
    """The median bit/s of messages from rank `sender` to the other, each answered by an empty one."""
    message = memoryview(bytearray(_size(expected)))
    answer = memoryview(bytearray(1))
    times = []
    for repeat in range(_REPEATS + 1):
        comm.Barrier()
        begin = time.perf_counter()
        if comm.rank == sender:
            comm.Send(message[:2000] if repeat == 0 else message, 1 - sender)
            comm.Recv(answer, 1 - sender)
        else:
            comm.Recv(message, sender)
            comm.Send(answer, sender)
        if repeat:
            times.append(time.perf_counter() - begin)
    seconds = comm.bcast(statistics.median(times), root=sender)
    return float(len(message) * 8 / seconds)


def _size(expected: float) -> int:
    """Bytes of a message, for a rate in bit/s."""
    return min(_MOST, max(20_000, round(expected * _SECONDS / 8)))


if __name__ == "__main__":
    main(sys.argv[1:])
