"""The same ring in Python, a window that each rank writes into its neighbour's, and a file of all ranks."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
left, right = (world.rank - 1) % world.size, (world.rank + 1) % world.size


def confirm(kind: str, is_right: bool) -> None:
    if not world.allreduce(is_right, MPI.LAND):
        raise SystemExit(f"WRONG: {kind}")
    if world.rank == 0:
        sys.stdout.write(f"kind {kind}\n")


sys.stdout.write(f"rank {world.rank} of {world.size} on {MPI.Get_processor_name()}\n")
confirm("ring", world.sendrecv(world.rank, dest=right, source=left) == left)
here, sent = np.full(1000, -1.0), np.full(1000, float(world.rank))
window = MPI.Win.Create(here, comm=world)
window.Fence()
window.Put(sent, right)
window.Fence()
confirm("one-sided, created window", bool((here == left).all()))
window.Free()
got = np.empty(1, dtype="i")
file = MPI.File.Open(world, f"{sys.argv[1]}/all-ranks", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(world.rank * 4, np.array([world.rank], dtype="i"))
file.Sync()
world.Barrier()
file.Read_at_all(right * 4, got)
file.Close()
confirm("MPI-IO", int(got[0]) == right)
