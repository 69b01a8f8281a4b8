"""Three steps of LU or BT on a cube of any size; rank 0 prints the ten norms as JSON."""

import json
import sys

from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads import bt_exchange, bt_solver, lu_exchange, lu_solver
from gridportal.workloads.bt_cells import make_partition
from gridportal.workloads.cfd.block import squares
from gridportal.workloads.cfd.verification import norms
from gridportal.workloads.lu_mesh import make_mesh

STEPS = 3
world = MPI.COMM_WORLD


def lu(size):
    mesh = make_mesh(world.Get_rank(), world.Get_size(), size)
    solver = lu_solver.Solver(mesh, lu_exchange.Exchange(world, mesh, CommunicationClock()), 0.001)
    for _ in range(STEPS):
        solver.sweep_up()
        solver.sweep_down()
        solver.update()
    return squares(solver.change), squares(solver.error)


def bt(size):
    partition = make_partition(world.Get_rank(), world.Get_size(), size)
    solver = bt_solver.Solver(partition, bt_exchange.Exchange(world, partition, CommunicationClock()), 0.001)
    for _ in range(STEPS):
        solver.right_hand_side()
        for axis in range(3):
            solver.solve(axis)
        solver.add()
    solver.right_hand_side()
    return solver.residual_squares(), solver.error_squares()


size = int(sys.argv[2])
residual, error = (norms(world, sums, size) for sums in {"lu": lu, "bt": bt}[sys.argv[1]](size))
if world.Get_rank() == 0:
    print(json.dumps([*residual, *error]), flush=True)
