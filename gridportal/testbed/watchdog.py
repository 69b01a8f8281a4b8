"""Where no PID namespace ends everything together with gridd, this small process waits for its end and does it."""

from __future__ import annotations

import contextlib
import os
import signal

from gridportal.testbed import kernel, process_owners


def start(grid: str) -> None:
    """Fork it from gridd of the Grid `grid` (its state directory)."""
    reading, writing = os.pipe()
    if os.fork() != 0:
        os.close(reading)  # Never closed: `writing` closes when gridd ends, by whatever means.
        return
    os.close(writing)
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.read(reading, 1)
    end_grid(grid)
    os._exit(0)


def end_grid(grid: str) -> None:
    """Kill every process that a Grid without namespaces has started, until none is left."""
    for _ in range(50):
        found = [pid for pid in kernel.pids() if process_owners.marks(pid).get(process_owners.GRID_MARK) == grid]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
