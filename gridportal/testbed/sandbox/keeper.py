"""Holds one run together in a PID namespace of its own: with its first process ends, by the kernel's doing, all of it.

Whatever the run has done to its environment or its parents, nothing of it is left. The first process is forked from
the daemon, never executed: that takes a few milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterable
from typing import NoReturn

from gridportal.testbed import kernel
from gridportal.testbed.sandbox.first_process import FirstProcess
from gridportal.testbed.sandbox.order import Order

_NOT_STARTED = 127 << 8  # as a wait status


def fork(order: Order, output: int, control: int, result: int) -> int:
    """Start the run in a child of this process, whose number is returned; KILL to it ends the whole run.

    `output` takes what the run prints. Each byte that comes from `control` is the number of a signal for all of the
    run's processes, or with the bit `ONE` for its command alone; its end is that of the run. `result` gets
    {"status": wait status, "reason"} when all have ended.
    """
    if order.own_users:
        return _fork_by_another(order, output, control, result)
    back = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.unshare(kernel.CLONE_NEWPID)  # of the children to come, not of this process
        try:
            pid = os.fork()
            if pid == 0:
                _be_first(order, output, control, result)
        finally:
            kernel.enter({"pid": back})
    finally:
        os.close(back)
    return pid


def _fork_by_another(order: Order, output: int, control: int, result: int) -> int:
    """By a process that has a user namespace of its own first, from which there is no way back."""
    pid = os.fork()
    if pid != 0:
        return pid
    with _reported_failure(result):
        kernel.die_with_parent(signal.SIGKILL)
        _close_all_but({0, 1, 2, output, control, result})
        _own_users()
        kernel.unshare(kernel.CLONE_NEWPID)
        first = os.fork()
        if first == 0:
            _be_first(order, output, control, result)
        for each in (output, control, result):
            os.close(each)
        os.waitpid(first, 0)
        os._exit(0)


def _be_first(order: Order, output: int, control: int, result: int) -> NoReturn:
    with _reported_failure(result):
        kernel.die_with_parent(signal.SIGKILL)
        _reset_signals()
        os.setsid()
        spaces = [each for place in order.places.values() for each in place.namespaces.values()]
        _close_all_but({0, 1, 2, output, control, result, *spaces})
        _tell(result, *FirstProcess(order, output, control).live())
        os._exit(0)


class _reported_failure(contextlib.AbstractContextManager[None]):  # noqa: N801
    """What is raised inside becomes the run's result, and the process ends: it never returns to the daemon's code."""

    def __init__(self, result: int) -> None:
        self._result = result

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> NoReturn:
        with contextlib.suppress(OSError):
            _tell(self._result, _NOT_STARTED, f"The run could not be started: {error or kind}.")
        os._exit(1)


def _tell(result: int, status: int, reason: str) -> None:
    os.write(result, json.dumps({"status": status, "reason": reason[:2000]}).encode())


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _close_all_but(kept: Iterable[int]) -> None:
    """The daemon's own sockets and files are none of a run's business."""
    low = 0
    for descriptor in sorted({*kept, os.sysconf("SC_OPEN_MAX")}):
        if low < descriptor:  # an empty range that begins at 0 would mean all
            os.closerange(low, descriptor)
        low = descriptor + 1


def _own_users() -> None:
    """A user namespace in which an ordinary user may make the others: with nobody but this user in it."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
