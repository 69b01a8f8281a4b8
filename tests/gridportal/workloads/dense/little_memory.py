"""Asks for a matrix on nodes that have 1 MB of memory free, and on nodes that do not tell; each rank's sentence is a
line."""

from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.workloads.dense import memory_limit
from gridportal.workloads.dense.memory_limit import check_memory

memory_limit.free_memory = lambda: 0
check_memory(MPI.COMM_WORLD, 1000, 8_000_000)
memory_limit.free_memory = lambda: 1_024_000
check_memory(MPI.COMM_WORLD, 100, 400_000)
try:
    check_memory(MPI.COMM_WORLD, 1000, 8_000_000)
except InputError as error:
    sentences = MPI.COMM_WORLD.gather(str(error))
if MPI.COMM_WORLD.Get_rank() == 0:
    print("\n".join(sentences))
