"""A dense linear system by LU factorization with partial pivoting, as PDGETRF of ScaLAPACK.

    mpiexec -n 4 python -m gridportal.workloads.dense.lu_system --size 2000

It can be stopped after any panel, and goes on with another number of ranks.
"""

from __future__ import annotations

from functools import partial

from gridportal.workloads.commandline import launch
from gridportal.workloads.dense.linear_system import LinearSystem
from gridportal.workloads.dense.lu_steps import lu_operations, lu_step
from gridportal.workloads.dense.panel_program import PanelProgram, build_parser, run

LU = PanelProgram(
    "dense-lu",
    "LU factorization of a dense matrix",
    partial(LinearSystem, step=lu_step),
    solving="solve",
    error="residual",
    operations=lu_operations,
)

if __name__ == "__main__":
    launch(build_parser("lu_system", "A dense linear system by LU factorization."), partial(run, program=LU))
