"""A field of known numbers to columns, back to planes and to rank 0; prints as JSON what came out right."""

import json

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.airshed_input import PLANES
from gridportal.workloads.airshed_layout import Layout

POINTS = 77
world = MPI.COMM_WORLD
layout = Layout(world, POINTS, CommunicationClock())
whole = np.arange(PLANES * POINTS, dtype=np.float64).reshape(PLANES, POINTS)
mine = whole[layout.planes.start : layout.planes.stop]

columns = layout.to_columns(mine)
right = {"columns": np.array_equal(columns, whole[:, layout.points.start : layout.points.stop])}
planes = layout.to_planes(columns)
right["planes"] = np.array_equal(planes, mine)
gathered = layout.gather(planes)
right["gathered"] = gathered is None or np.array_equal(gathered, whole)
everyone = world.gather(right)
if everyone is not None:
    print(json.dumps({name: all(one[name] for one in everyone) for name in right}), flush=True)
