"""How much memory a rank takes above its arrays, and how long it reads.

usage: weigh FOLDER LAYOUT ELEMENTS

The first run writes a checkpoint of an array of doubles and stops, the second reads it. Rank 0 prints a JSON line:
whether it was a restart, for each rank by how many bytes its memory grew at most, and the seconds spent.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from gridportal.runtime.srs import layouts, stop_restart


def memory(field: str) -> int:
    """Bytes."""
    found = re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def main() -> None:
    folder, layout, count = Path(sys.argv[1]), layouts.parsed(sys.argv[2]), int(sys.argv[3])
    comm = MPI.COMM_WORLD
    rank = comm.Get_rank()
    x = np.full(layout.local_shape((count,), rank), float(rank))
    state = stop_restart.init(comm, folder)
    state.register("x", x, (count,), layout)
    comm.Barrier()
    with contextlib.suppress(OSError):  # not in the view of a job
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what it is now
    before = memory("VmRSS")
    if state.restart_value():
        state.read("x")
    else:
        state.ask_stop()
        while not state.check_stop():
            pass
    grown = comm.gather(memory("VmHWM") - before)
    total = comm.reduce(float(x.sum()))
    state.finish()
    if rank == 0:
        document = {"restart": state.restart_value(), "grown": grown, "total": total, "seconds": state.seconds}
        sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
