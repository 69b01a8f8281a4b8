"""Starts one run and watches it to its end, without the portal: `python -m gridportal.local.watcher FOLDER`.

The command returns once the run has begun, or when it had begun before. What goes on is a process in a session of its
own that ends the run when its time is over or when TERM comes, takes all that the run left with it, and writes down how
it ended. The lock of the record makes sure that a run begins once.

Its parent does nothing but wait for it: should the watcher be killed, the kernel gives this one all that the run has
started, wherever it went, and it ends that before the lock is free.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from gridportal.base import file_lock
from gridportal.base import processes as shell
from gridportal.base.disk_errors import UNWRITABLE
from gridportal.local.descendants import signal_all
from gridportal.local.run_record import CANCELLED, TIME_LIMIT, End, Order, RunRecord
from gridportal.testbed.kernel import adopt_orphans

#: Seconds that a killed process may take to be gone.
_DYING = 30.0
_PATIENCE = 5.0
#: Seconds between two attempts to write an end where the disk is full.
AGAIN = 1.0
_HEARD = (signal.SIGCHLD, signal.SIGTERM)
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_COULD_NOT_START = 127


def main(folder: str) -> int:
    """Begin the run of `folder` unless it was begun; an exit code."""
    record = RunRecord(Path(folder))
    lock = record.open_lock()
    if not file_lock.acquire(lock, _PATIENCE):  # another watcher has it
        return 0 if record.begin() else 1
    if record.begin():
        return 0
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        return 0 if os.read(reader, 1) else 1
    os.close(reader)
    os.setsid()
    shell.reset_signals()
    adopt_orphans()
    if watcher := os.fork():
        os.close(writer)
        _leave_the_terminal()
        os.waitpid(watcher, 0)
        _end_the_rest()  # nothing is there where the watcher came to its own end
    else:
        _watch(record, writer)
    return 0


def _watch(record: RunRecord, tell: int) -> None:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    adopt_orphans()
    order = record.order()
    record.write_begin()
    _leave_the_terminal()
    os.write(tell, b".")  # before the run can stop this process
    os.close(tell)
    try:
        script = _start(order)
    except OSError as error:
        end = End(time.time(), _COULD_NOT_START, reason=f"It could not be started: {error}.")
    else:
        end = _follow(script, order)
    keep(record, end)


def keep(record: RunRecord, end: End) -> None:
    """Write `end` down, as late as there is room for it: until then the run is watched, and nobody calls it lost."""
    while True:
        try:
            return record.write_end(end)
        except OSError as error:
            if error.errno not in UNWRITABLE:
                raise
        time.sleep(AGAIN)


def _leave_the_terminal() -> None:
    """Keep nothing open of whoever started this."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.chdir("/")


def _start(order: Order) -> subprocess.Popen[bytes]:
    tie = shell.die_with_parent()

    def prepare() -> None:
        shell.reset_signals()
        tie()

    output = os.open(order.output, _APPENDING, 0o644)
    try:
        return subprocess.Popen(
            order.argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=order.run_dir,
            env=dict(order.env),
            start_new_session=True,
            preexec_fn=prepare,
        )
    finally:
        os.close(output)


def _follow(script: subprocess.Popen[bytes], order: Order) -> End:
    """Until the script has ended, be it by itself; then end what it left."""
    cause, status, kill_at = "", None, None
    limit_at = time.monotonic() + order.time_limit if order.time_limit else None
    while status is None:
        next_at = min((at for at in (limit_at, kill_at) if at is not None), default=None)
        heard = _wait(next_at)
        status = _reaped().get(script.pid)
        if status is not None:
            break
        now = time.monotonic()
        if heard == signal.SIGTERM or (limit_at is not None and now >= limit_at):
            cause = cause or (CANCELLED if heard == signal.SIGTERM else TIME_LIMIT)
            limit_at, kill_at = None, kill_at or now + order.grace
            signal_all(os.getpid(), signal.SIGTERM)
        if kill_at is not None and now >= kill_at:
            signal_all(os.getpid(), signal.SIGKILL)
            kill_at = now + order.grace
    ended_at = time.time()
    _end_the_rest()
    code = os.waitstatus_to_exitcode(status)
    limit = order.time_limit if cause == TIME_LIMIT else None
    return End(ended_at, code if code >= 0 else None, -code if code < 0 else None, cause, limit=limit)


def _wait(until: float | None) -> int | None:
    """The signal that came; None when it is `until`."""
    if until is None:
        return signal.sigwait(_HEARD)
    came = signal.sigtimedwait(_HEARD, max(0.0, until - time.monotonic()))
    return came.si_signo if came else None


def _reaped() -> dict[int, int]:
    """The wait status of each child that has ended since."""
    return dict(_ended())


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _end_the_rest() -> None:
    """Kill what the run left until nothing is there: a process may fork while it is being killed."""
    until = time.monotonic() + _DYING
    while signal_all(os.getpid(), signal.SIGKILL) and time.monotonic() < until:
        time.sleep(0.01)
        _reaped()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
