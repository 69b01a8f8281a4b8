"""A PostgreSQL that serves a data directory of ours and was not started by us: how it is recognised and ended.

`pg_ctl restart` by hand leaves one, and no second can start beside it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.serve import kernel_view
from gridportal.serve.server_user import as_user

#: Fast shutdown, immediate shutdown, and for one that is stopped or hangs the end, with the seconds that each may take.
_ENDINGS = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 8.0), (signal.SIGKILL, 5.0))
_FILE = "postmaster.pid"


def find(data: Path, user: str | None) -> int:
    """The process id of the PostgreSQL that serves `data`, which `user` owns (None: ourselves); 0 without one.

    The number may be an old one that belongs to anybody by now: only a program named postgres that works in this very
    directory counts. Times are not compared, since the clock may have been set. A single-user PostgreSQL, whose number
    is negative, is somebody's repair and is left alone.
    """
    try:
        pid = int((data / _FILE).read_text(encoding="utf-8", errors="replace").partition("\n")[0])
    except (FileNotFoundError, ValueError):  # there is none, or it is being written just now
        return 0
    return pid if pid > 1 and _runs(pid) and _serves(pid, data, user) else 0


def end(data: Path, user: str | None) -> str:
    """End the PostgreSQL that serves `data`, in good order if it can; a sentence about it, "" when there was none.

    Takes up to 23 s. Raises BackendError when it stays.
    """
    pid = find(data, user)
    if not pid:
        return ""
    for signum, seconds in _ENDINGS:
        if find(data, user) != pid:
            break
        _signal(pid, signum)
        _wait(pid, seconds)
    if find(data, user) == pid:
        raise BackendError(f"The PostgreSQL of process {pid}, which this portal did not start, does not end.")
    return f"The PostgreSQL of process {pid}, which this portal did not start, served its data and was ended."


def _runs(pid: int) -> bool:
    return kernel_view.state(pid) not in ("", "Z")


def _serves(pid: int, data: Path, user: str | None) -> bool:
    """Asked as `user`: root in a container may not look at what another person's process has open."""
    links = [f"/proc/{pid}/exe", f"/proc/{pid}/cwd"]
    answer = shell.run([*as_user(user), "readlink", "-z", *links], timeout=10, check=False, cwd="/")
    if answer.returncode != 0:
        return False
    program, folder = answer.stdout.split("\0")[:2]
    is_postgres = Path(program.removesuffix(" (deleted)")).name == "postgres"  # deleted: by an upgrade of the package
    return is_postgres and folder == os.path.realpath(data)


def _signal(pid: int, signum: signal.Signals) -> None:
    try:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)
    except PermissionError as error:
        raise BackendError(f"The PostgreSQL of process {pid} may not be ended by this portal's user.") from error


def _wait(pid: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
