"""One step of LU's class S with a comm that counts what it sends; rank 0 prints all as JSON."""

import json

from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.lu_exchange import Exchange
from gridportal.workloads.lu_mesh import make_mesh
from gridportal.workloads.lu_solver import Solver


class RecordingComm:
    def __init__(self, comm):
        self._comm = comm
        self.targets = []

    def __getattr__(self, name):
        return getattr(self._comm, name)

    def Isend(self, values, dest):
        self.targets.append(dest)
        return self._comm.Isend(values, dest=dest)


world = MPI.COMM_WORLD
recorder = RecordingComm(world)
mesh = make_mesh(world.Get_rank(), world.Get_size(), 12)
solver = Solver(mesh, Exchange(recorder, mesh, CommunicationClock()), 0.5)
solver.sweep_up()
solver.sweep_down()
solver.update()
everyone = world.gather((sorted(set(recorder.targets)), len(recorder.targets)))
if everyone is not None:
    told = {"partners": [targets for targets, _ in everyone], "messages": [count for _, count in everyone]}
    print(json.dumps(told), flush=True)
