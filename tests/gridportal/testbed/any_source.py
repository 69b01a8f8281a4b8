"""A master that receives from whoever is first, and workers whose messages wait for it; says how many came."""

import sys
import time

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
size, rounds = int(sys.argv[1]), 12
workers = world.Get_size() - 1
if world.Get_rank():
    order = np.empty(1, dtype="i")
    for step in range(rounds):
        world.Send(np.full(size, world.Get_rank(), dtype="b"), dest=0, tag=step)
        world.Recv(order, source=0)
else:
    status, answer, came = MPI.Status(), np.empty(size, dtype="b"), []
    for step in range(rounds * workers):
        if step % 2:
            time.sleep(0.02)  # the messages of the others are here before they are asked for
        if step % 3:
            world.Recv(answer, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        else:
            world.Irecv(answer, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG).Wait(status)
        assert (answer == status.Get_source()).all()
        came.append((status.Get_source(), status.Get_tag()))
        world.Send(np.zeros(1, dtype="i"), dest=status.Get_source())
    for worker in range(1, workers + 1):
        assert [tag for source, tag in came if source == worker] == list(range(rounds))
    sys.stdout.write(f"{len(came)}\n")
