"""24 slices to three workers, the last of them slow; rank 0 prints who did how many, and who sent to whom."""

import json
import time

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.mri_exchange import hand_out, serve
from gridportal.workloads.mri_kernels import Result

SIZE = 4
world = MPI.COMM_WORLD


class RecordingComm:
    def __init__(self, comm):
        self._comm = comm
        self.targets = set()

    def __getattr__(self, name):
        return getattr(self._comm, name)

    def Send(self, values, dest, tag=0):
        self.targets.add(dest)
        self._comm.Send(values, dest=dest, tag=tag)


def work(index, raw):
    time.sleep(0.2 if world.Get_rank() == 3 else 0.01)
    return Result(picture=raw.real, motion=np.zeros(2))


comm, clock = RecordingComm(world), CommunicationClock()
if world.Get_rank() == 0:
    raws = (np.full((SIZE, SIZE), index, dtype=np.complex128) for index in range(24))
    arrived = list(hand_out(comm, raws, SIZE, clock))
    slices = [sum(worker == rank for _, _, worker in arrived) for rank in range(world.Get_size())]
    assert all(result.picture[0, 0] == index for index, result, _ in arrived)
else:
    serve(comm, SIZE, work, clock)
everyone = world.gather(sorted(comm.targets))
if everyone is not None:
    pairs = [(rank, other) for rank, targets in enumerate(everyone) for other in targets]
    print(json.dumps({"slices": slices, "pairs": pairs}), flush=True)
