"""`mpiexec -n 2 python counting.py STEPS`: counts its steps, can be stopped after each, and goes on where it was.

Each step waits a fifth of a second and computes nothing, so that many run beside each other. It verifies that no step
was left out and none was done twice, over all its runs.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
from mpi4py import MPI

from gridportal.base.job_files import CHECKPOINTS_VARIABLE
from gridportal.runtime.phases import Phases
from gridportal.runtime.srs import stop_restart

_PAUSE = 0.2


def main() -> int:
    """0 when every step was done once, or it was stopped before."""
    comm, steps = MPI.COMM_WORLD, int(sys.argv[1])
    phases = Phases(comm, "chaos-count", steps=steps)
    state = stop_restart.init(comm, os.environ[CHECKPOINTS_VARIABLE])
    done, counts = np.zeros(1, np.int64), np.zeros(steps, np.int64)
    state.register("done", done)
    state.register("counts", counts)
    state.store_map()
    if state.restart_value():
        state.read("done")
        state.read("counts")
    began = time.perf_counter()
    while done[0] < steps:
        with phases.phase("step", int(done[0]) + 1, steps):
            time.sleep(_PAUSE)
            counts[done[0]] += 1
            done[0] += 1
        if state.check_stop():
            state.finish()
            return 0
    state.finish()
    right = bool((counts == 1).all())
    phases.result(right, time.perf_counter() - began)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
