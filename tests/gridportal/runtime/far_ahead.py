"""Rank 1 ends phase after phase while rank 0 has not ended one; run by test_phases."""

import sys
import time

from mpi4py import MPI

from gridportal.runtime.phases import LEAD, Phases

_LAST_BUT_ONE, _LAST = 1, 2

comm = MPI.COMM_WORLD
phases = Phases(comm, "far ahead")
if comm.rank == 0:
    comm.recv(source=1, tag=_LAST_BUT_ONE)
    time.sleep(0.3)  # so long rank 1 may try to end the last one
    began = time.monotonic()
for number in range(1, LEAD + 1):
    with phases.phase("short"):
        pass
    if comm.rank == 1 and number == LEAD - 1:
        comm.send(None, dest=0, tag=_LAST_BUT_ONE)
if comm.rank == 1:
    comm.send(time.monotonic(), dest=0, tag=_LAST)
else:
    waited = comm.recv(source=1, tag=_LAST) >= began
    sys.stdout.write("rank 1 waited\n" if waited else "rank 1 went on\n")
