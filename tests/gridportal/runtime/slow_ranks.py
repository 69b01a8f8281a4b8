"""Reports phases in which rank r takes r twentieths of a second; run by test_phases."""

import math
import sys
import time

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import Phases

comm = MPI.COMM_WORLD
phases = Phases(comm, "slow", **{"class": "T"})
with phases.phase("compute"):
    time.sleep(0.05 * comm.rank)
with phases.phase("talk", iteration=1, of=2), phases.communicating:
    time.sleep(0.05 * comm.rank)
longest = phases.slowest(float(comm.rank))
phases.result(None, longest, error=math.nan, count=np.int64(3), rates=(np.float64(0.5), math.inf))
sys.stdout.write("ranks agree\n" if longest == comm.size - 1 else "ranks disagree\n")
