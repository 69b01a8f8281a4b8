"""A dense linear system by QR factorization, as PDGEQRF of ScaLAPACK: the application of Migration 2003.

    mpiexec -n 4 python -m gridportal.workloads.dense.qr --size 2000

It can be stopped after any panel, and goes on with another number of ranks.
"""

from __future__ import annotations

from functools import partial

from gridportal.workloads.commandline import launch
from gridportal.workloads.dense.linear_system import LinearSystem
from gridportal.workloads.dense.panel_program import PanelProgram, build_parser, run
from gridportal.workloads.dense.qr_steps import qr_operations, qr_step

QR = PanelProgram(
    "dense-qr",
    "QR factorization of a dense matrix",
    partial(LinearSystem, step=qr_step),
    solving="solve",
    error="residual",
    operations=qr_operations,
)

if __name__ == "__main__":
    launch(build_parser("qr", "A dense linear system by QR factorization."), partial(run, program=QR))
