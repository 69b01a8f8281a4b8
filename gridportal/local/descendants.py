"""A process with all that it started, however far that went away: daemons and new sessions too."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import defaultdict
from collections.abc import Sequence

from gridportal.testbed import kernel


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, parents first; O(processes of the machine)."""
    children = defaultdict(list)
    for each in kernel.pids():
        if fields := kernel.stat_fields(each):
            children[int(fields[1])].append(each)
    found = list(children[pid])
    for each in found:
        found += children[each]
    return found


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid` now."""
    return [each for each in kernel.pids() if (fields := kernel.stat_fields(each)) and int(fields[1]) == pid]


def signal_oldest(pids: Sequence[int], signum: signal.Signals) -> None:
    """Send `signum` to the process that started first: of all that a watcher has, the one that it started itself."""
    began = {pid: at for pid in pids if (at := kernel.start_time(pid)) is not None}
    if began:
        oldest = min(began, key=lambda pid: (began[pid], pid))
        signal_one(oldest, began[oldest], signum)


def signal_all(pid: int, signum: int) -> int:
    """Send `signum` to all processes below `pid`; how many took it."""
    took = 0
    for each in descendants(pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, signum)
            took += 1
    return took


def signal_one(pid: int, start_time: int | None, signum: signal.Signals) -> None:
    """Send `signum` to the process `pid` that started at `start_time`; nothing to another that has its number now."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        descriptor = os.pidfd_open(pid)
        try:
            if kernel.start_time(pid) == start_time:
                signal.pidfd_send_signal(descriptor, signum)
        finally:
            os.close(descriptor)
