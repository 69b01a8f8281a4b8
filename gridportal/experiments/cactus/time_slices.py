"""How long a process of a node runs before others have a turn: longer, as the kernels of the paper's time had it.

Linux gives 3 ms, after which what a process keeps in the caches is lost: an iteration on a busy node takes a tenth more
seconds of the processor than on an idle one. Linux 2.2 gave 200 ms; today's gives 100 at most, from 6.12 on.
"""

from __future__ import annotations

import ctypes
import platform
import struct

#: Nanoseconds. Several turns of each process have room in a run of some seconds.
SLICE = 50_000_000
#: Numbers of the system call sched_setattr, which not every C library has a function for.
_CALLS = {"x86_64": 314, "aarch64": 274}
_OTHER, _LIBRARY = 0, ctypes.CDLL(None, use_errno=True)


def lengthen_slice(task: int) -> bool:
    """Give a thread (its number) the long slice; False where this system does not, or the thread has ended."""
    call = _CALLS.get(platform.machine())
    if call is None:
        return False
    # size, policy, flags, nice, priority, runtime (the slice), deadline, period
    attributes = struct.pack("=IIQiIQQQ", struct.calcsize("=IIQiIQQQ"), _OTHER, 0, 0, 0, SLICE, 0, 0)
    return bool(_LIBRARY.syscall(call, task, attributes, 0) == 0)
